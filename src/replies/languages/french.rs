use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (
        Signal::Neutral,
        "oui; pour la relecture; pour la revue; pour le retour; bonjour; ^ pris en compte; ^ compris;
         , compris $; ^ entendu",
    ),
    (Signal::Thanks, "merci; merci beaucoup"),
    (
        Signal::Fixed,
        "^ corrige; ^ corrigee; ^ corriges; c'est corrige; est corrige; a ete corrige; ont ete corriges;
         j'ai corrige; nous avons corrige; on a corrige; corrige dans; ^ fait $; ^ fait ,; c'est fait;
         ^ resolu; c'est resolu; ^ mis a jour; ^ ajoute; ^ supprime; ^ remplace; ^ modifie; j'ai ajoute;
         j'ai supprime; j'ai remplace; j'ai modifie; j'ai mis a jour; j'ai change; j'ai renomme;
         j'ai deplace; a ete ajoute; a ete modifie; a ete supprime; a ete remplace; c'est pousse;
         ^ implemente; j'ai annule; j'ai retire; j'ai enleve; ^ retire; ^ retiree; , retire $;
         , supprime $; , corrige $; , annule $; ^ annule; j'ai revert*; j'ai vire",
    ),
    (Signal::Settled, "deja corrige; deja implemente; deja resolu"),
    (
        Signal::Promises,
        "je vais corriger/modifier/changer/ajouter/regarder/verifier;
         nous allons corriger/modifier/changer; on va corriger/modifier/changer; je corrige;
         je m'en occupe; je regarde; je le corrigerai; sera corrige; je vais; on va; nous allons;
         je change; je modifie; je deplace; je renomme; je fais; je pousse",
    ),
    (
        Signal::Changes,
        "je retire; retirer; supprim*; enlev*; je reviens; en arriere; revert*; annul*; renomm*;
         je vire; s'il te plait; s'il vous plait; svp; stp; merci de; il faut; il faudrait; on devrait;
         prochain commit; tout de suite",
    ),
    (
        Signal::Declines,
        "ne sera pas corrige*; ne sera pas modifie*; ne sera pas change*;
         je ne vais pas corriger/modifier/changer/faire/toucher;
         je ne vais pas le corriger/modifier/changer/faire;
         nous n'allons pas corriger/modifier/changer/faire;
         nous n'allons pas le corriger/modifier/changer/faire;
         on ne va pas corriger/modifier/changer/faire/toucher;
         on ne va pas le corriger/modifier/changer/faire; je ne corrigerai pas; nous ne corrigerons pas;
         on ne corrigera pas; je ne changerai pas; nous ne changerons pas; on ne changera pas;
         on ne corrige pas; on ne change pas; je ne corrige pas; ^ rejete; risque accepte;
         risque assume; on accepte le risque; nous acceptons le risque; j'accepte le risque;
         nous avons decide de ne pas; on a decide de ne pas; je prefere ne pas; on prefere ne pas;
         nous preferons ne pas",
    ),
    (
        Signal::OutOfScope,
        "hors perimetre; hors du perimetre; hors scope; hors sujet pour cette pr;
         en dehors du perimetre; est hors perimetre; c'est hors perimetre; c'est hors scope;
         est hors scope",
    ),
    (
        Signal::Keeps,
        "c'est voulu; est voulu; ^ voulu; c'est intentionnel; est intentionnel; est intentionnelle;
         ^ intentionnel; c'est delibere; est delibere; c'est fait expres; fait expres; expres $;
         par conception; comportement voulu; je laisse comme ca; on laisse comme ca;
         je laisse tel quel; on laisse tel quel; on le laisse tel quel; laisse en l'etat;
         laisse tel quel; laissons tel quel; on garde tel quel; on garde comme ca; on le garde;
         je prefere garder; nous preferons garder; choix de conception; choix assume;
         limitation connue",
    ),
    (
        Signal::Rests,
        "^ aucune action; ^ aucun changement necessaire; ^ pas de changement; comportement attendu;
         c'est attendu",
    ),
    (
        Signal::Credits,
        "pour la remarque; pour le signalement; pour l'alerte; d'avoir signale; de l'avoir signale;
         d'avoir vu; de l'avoir vu",
    ),
    (
        Signal::Agrees,
        "^ d'accord $; , d'accord $; je suis d'accord; nous sommes d'accord; tout a fait d'accord;
         vous avez raison; tu as raison; bien vu; bonne remarque; remarque pertinente; bon point;
         ^ c'est juste $; ca se tient; bonne idee; ^ d'accord; ^ exact; ^ exactement; en effet;
         effectivement; ^ vrai; c'est vrai; au temps pour moi; autant pour moi; mon erreur; ma faute;
         erreur de ma part; j'ai oublie; oubli de; oups; m'a echappe; bonne prise; bien joue;
         bonne suggestion; bien repere; bon reflexe; rien a faire ici; sa place ici; par erreur;
         par megarde; ^ juste $; bonne question",
    ),
    (Signal::Acknowledges, "^ bien note; ^ c'est note; ^ j'en prends note; , c'est note; , bien note"),
    (
        Signal::Defers,
        "dans une autre pr; dans une pr separee; dans une prochaine pr; dans la prochaine pr;
         dans une pr ulterieure; dans une future pr; j'ai ouvert un ticket; j'ai cree un ticket;
         j'ai ouvert une issue; au backlog; dans le backlog",
    ),
    (Signal::Later, "prochaine version"),
    (
        Signal::Disputes,
        "pas d'accord; en desaccord; faux positif; fausse alerte; c'est faux; est faux; ^ faux;
         incorrect*; inexact*; n'est pas vrai; n'est pas correct; n'est pas exact; n'est pas un bug;
         n'est pas un probleme; pas un bug; pas un probleme; vous vous trompez; tu te trompes;
         se trompe; est erron*; erronee; ne s'applique pas; pas le cas; n'est pas comme ca;
         deja gere*; deja couvert*; je ne pense pas; je ne crois pas; je ne vois pas; n'a pas de sens;
         vous avez tort; tu as tort; c'est une erreur de",
    ),
    (
        Signal::Argues,
        "existe deja; deja; correctement; pas besoin; inutile; n'est pas necessaire; en fait;
         en realite; est correct; fonctionne; verifie; garanti*",
    ),
    (Signal::Denies, "pas; jamais; aucun*; rien"),
    (Signal::Contrasts, "mais; cependant; toutefois; pourtant; neanmoins; par contre; sauf"),
    (Signal::Negates, "pas; ne; jamais; aucun*; sans; ni"),
    (
        Signal::Hedges,
        "peut etre; pas sur; pas certain; je ne sais pas; faut il; devrait; devrions; pourrait;
         vous dites; tu dis; pourquoi; semble; est ce",
    ),
    (Signal::Supposes, "si; quand"),
    (Signal::Conditions, "tant que; jusqu'a; a moins; encore; avant que"),
    (Signal::Predicates, "est; etait; serait; casse; casserait; cause; devrait; peut"),
    (Signal::Connects, "parce; car; pour; que; et"),
    (Signal::Wavers, "peut etre; pas sur; pas certain; je ne sais pas; je pense; je crois; sans doute"),
    (
        Signal::Withholds,
        "laisser ouvert; laisse ouvert; garder ouvert; garde ouvert; ne pas fermer; a discuter; mdr",
    ),
    (
        Signal::Asks,
        "pourquoi; pouvez vous; peux tu; pourriez vous; qu'est ce; que voulez vous; ^ comment;
         ^ faut il; ^ est ce; je ne comprends pas",
    ),
    (Signal::Explains, "parce; car; puisque"),
];

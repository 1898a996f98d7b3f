use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (
        Signal::Neutral,
        "merci; merci beaucoup; oui; d'accord , merci; pour la relecture; pour la revue;
         pour le retour; pour la remarque; bonjour",
    ),
    (
        Signal::Fixed,
        "^ corrige; ^ corrigee; ^ corriges; c'est corrige; est corrige; a ete corrige;
         ont ete corriges; j'ai corrige; nous avons corrige; on a corrige; corrige dans; ^ fait $;
         ^ fait ,; c'est fait; ^ resolu; c'est resolu; ^ mis a jour; ^ ajoute; ^ supprime; ^ remplace;
         ^ modifie; j'ai ajoute; j'ai supprime; j'ai remplace; j'ai modifie; j'ai mis a jour;
         j'ai change; j'ai renomme; j'ai deplace; a ete ajoute; a ete modifie; a ete supprime;
         a ete remplace; c'est pousse; ^ implemente",
    ),
    (Signal::Settled, "deja corrige; deja implemente; deja resolu"),
    (
        Signal::Promises,
        "je vais corriger/modifier/changer/ajouter/regarder/verifier;
         nous allons corriger/modifier/changer; on va corriger/modifier/changer; je corrige;
         je m'en occupe; je regarde; je le corrigerai; sera corrige",
    ),
    (
        Signal::Declines,
        "ne sera pas corrige*; ne sera pas modifie*; ne sera pas change*;
         je ne vais pas corriger/modifier/changer/faire/toucher;
         je ne vais pas le corriger/modifier/changer/faire;
         nous n'allons pas corriger/modifier/changer/faire;
         nous n'allons pas le corriger/modifier/changer/faire;
         on ne va pas corriger/modifier/changer/faire/toucher;
         on ne va pas le corriger/modifier/changer/faire; je ne corrigerai pas;
         nous ne corrigerons pas; on ne corrigera pas; je ne changerai pas; nous ne changerons pas;
         on ne changera pas; on ne corrige pas; on ne change pas; je ne corrige pas; hors perimetre;
         hors du perimetre; hors scope; hors sujet pour cette pr; en dehors du perimetre; ^ rejete;
         risque accepte; risque assume; on accepte le risque; nous acceptons le risque;
         j'accepte le risque; nous avons decide de ne pas; on a decide de ne pas; je prefere ne pas;
         on prefere ne pas; nous preferons ne pas",
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
        Signal::Agrees,
        "^ d'accord $; , d'accord $; je suis d'accord; nous sommes d'accord; tout a fait d'accord;
         vous avez raison; tu as raison; bien vu; bonne remarque; remarque pertinente; bon point;
         ^ c'est juste $; ca se tient; bonne idee",
    ),
    (
        Signal::Acknowledges,
        "^ bien note; ^ c'est note; ^ pris en compte; ^ j'en prends note; ^ compris; , compris $;
         ^ entendu; , c'est note; , bien note",
    ),
    (
        Signal::Defers,
        "dans une autre pr; dans une pr separee; dans une prochaine pr; dans la prochaine pr;
         dans une pr ulterieure; dans une future pr; j'ai ouvert un ticket; j'ai cree un ticket;
         j'ai ouvert une issue; au backlog; dans le backlog",
    ),
    (Signal::Later, "plus tard; ulterieurement; prochaine version"),
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

use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (
        Signal::Neutral,
        "ja; fur das review; fur die ruckmeldung; hallo; ^ verstanden; , verstanden $; ^ alles klar;
         , alles klar",
    ),
    (Signal::Thanks, "danke; vielen dank; danke dir; danke schon"),
    (
        Signal::Fixed,
        "behoben; gefixt; ^ erledigt; ist erledigt; korrigiert; angepasst; ^ geandert; habe .. geandert;
         wurde geandert; ^ erganzt; habe .. erganzt; wurde erganzt; hinzugefugt; ^ entfernt;
         habe .. entfernt; wurde entfernt; ersetzt; umbenannt; aktualisiert; umgesetzt; ^ gelost;
         ist gelost; eingebaut; ubernommen; umgestellt; uberarbeitet; nachgezogen; zuruckgenommen;
         zuruckgesetzt; ruckgangig gemacht; revertiert; rausgenommen; herausgenommen; geloscht;
         , entfernt $; , geandert $; verschoben; ausgelagert",
    ),
    (Signal::Settled, "bereits behoben; bereits umgesetzt; schon umgesetzt; bereits implementiert"),
    (
        Signal::Promises,
        "werde .. beheben; werde .. andern; werde .. anpassen; mache ich; schaue ich; schau ich;
         wird .. behoben; wird .. angepasst; fixe ich; andere ich; passe ich; kummere mich; werde ich;
         werden wir; machen wir; ich andere; ich korrigiere; ich passe; ich mache; ich ziehe; ich baue;
         setze .. um; andere es; andere das",
    ),
    (
        Signal::Changes,
        "nehme ich; nehm ich; raus; raus*; ruckgangig; zurucknehm*; zurucksetz*; revert*; entfern*;
         losch*; umbenenn*; benenne; verschieb*; bitte; muss weg; muss noch; mussen wir; kommt weg;
         fliegt; ersetze; pushe; nachster commit; nachsten commit",
    ),
    (
        Signal::Declines,
        "wird nicht behoben; wird nicht gefixt; wird nicht geandert; wird nicht angepasst;
         wird nicht umgesetzt; werde ich nicht beheben/andern/anpassen/umsetzen/fixen;
         werden wir nicht beheben/andern/anpassen/umsetzen/fixen; andern wir nicht; andere ich nicht;
         machen wir nicht; mache ich nicht; beheben wir nicht; fixen wir nicht; ^ abgelehnt;
         ^ verworfen; risiko akzeptiert; akzeptieren das risiko; nehmen das risiko in kauf;
         nehmen wir in kauf; risiko nehmen wir; haben uns dagegen entschieden; wir verzichten darauf;
         darauf verzichten wir; lieber nicht andern",
    ),
    (
        Signal::OutOfScope,
        "ausserhalb des scopes; ausserhalb des umfangs; ausserhalb des rahmens; nicht im scope;
         nicht im umfang; nicht teil dieses prs; nicht teil dieser pr; ist ausserhalb des scopes;
         liegt ausserhalb des scopes; ist nicht im scope; ist nicht teil dieses prs;
         ist nicht teil dieser pr",
    ),
    (
        Signal::Keeps,
        "ist absicht; ^ absicht; mit absicht; absichtlich so; ist beabsichtigt; ^ beabsichtigt;
         ist gewollt; ^ gewollt; so gewollt; bewusst so; ist bewusst; bewusste entscheidung;
         designentscheidung; gewunschtes verhalten; so vorgesehen; bleibt so; bleibt wie es ist;
         bleibt unverandert; lassen wir so; lasse ich so; lassen das so; lassen es so; lasse es so;
         belassen wir; belasse ich; belassen es; behalten wir bei; bekannte einschrankung",
    ),
    (
        Signal::Rests,
        "keine anderung notig; keine anderung erforderlich; kein handlungsbedarf;
         erwartetes verhalten",
    ),
    (
        Signal::Credits,
        "fur den hinweis; furs aufpassen; furs finden; fur den tipp; furs melden; fur den fund",
    ),
    (
        Signal::Agrees,
        "^ einverstanden; , einverstanden; stimme zu; stimme dir zu; ^ stimmt ,; du hast recht;
         sie haben recht; hast recht; ^ stimmt $; ^ das stimmt $; ^ macht sinn; ^ ergibt sinn;
         das macht sinn $; das ergibt sinn $; guter punkt; guter hinweis; gut gesehen; guter fund;
         guter einwand; berechtigter punkt; berechtigter einwand; gut aufgepasst; ^ stimmt; mein fehler;
         mein versehen; aus versehen; versehentlich; ubersehen; vergessen; ups; hoppla; gute idee;
         guter vorschlag; gut erkannt; gut gefunden; gute frage; ^ genau; ^ richtig $; ^ korrekt $;
         gehort nicht hierher; gehort hier nicht; reingerutscht; durchgerutscht; peinlich;
         recht hast du; volle zustimmung",
    ),
    (
        Signal::Acknowledges,
        "^ zur kenntnis genommen; , zur kenntnis genommen; zur kenntnis genommen; ^ notiert; , notiert;
         ^ ist notiert; ^ registriert; ist uns bekannt; ist mir bekannt",
    ),
    (
        Signal::Defers,
        "in einem separaten pr; in einem eigenen pr; in einem spateren pr; im nachsten pr;
         in einem folge pr; folge pr; separater pr; ticket angelegt; issue angelegt; ticket erstellt;
         issue erstellt; ins backlog; im backlog",
    ),
    (
        Signal::Disputes,
        "stimme nicht zu; stimme dem nicht zu; stimme dir nicht zu; stimmt nicht; stimmt .. nicht; stimmt so
         nicht;
         nicht einverstanden; fehlalarm; falsch positiv; falscher alarm; ist falsch; ^ falsch;
         nicht richtig; nicht korrekt; inkorrekt; trifft nicht zu; trifft hier nicht zu; kein bug;
         kein fehler; kein problem; nicht der fall; du irrst; irrtum; missverstand*; wird bereits;
         wird schon; ist bereits abgedeckt; sehe ich anders; sehe das anders; sehe ich nicht so;
         widerspreche; glaube nicht; denke nicht; unsinn; quatsch; ergibt keinen sinn;
         macht keinen sinn; unzutreffend; anderer meinung; hast nicht recht; hast unrecht",
    ),
    (
        Signal::Argues,
        "existiert; bereits; schon; korrekt; richtig; nicht notig; nicht notwendig; unnotig;
         tatsachlich; eigentlich; funktioniert; gepruft; verifiziert; garantiert",
    ),
    (Signal::Denies, "nicht; nie; kein*; niemals"),
    (Signal::Contrasts, "aber; jedoch; allerdings; trotzdem; dennoch; obwohl"),
    (Signal::Negates, "nicht; nie; kein*; niemals; ohne; nein"),
    (
        Signal::Hedges,
        "vielleicht; ob; nicht sicher; unsicher; vermutlich; wahrscheinlich; sollten; sollte; konnte;
         konnten; du sagst; angeblich; warum; wieso; scheint; weiss nicht",
    ),
    (Signal::Supposes, "falls; wenn"),
    (Signal::Conditions, "bis; solange; es sei denn; noch nicht; bevor"),
    (Signal::Predicates, "ist; sind; war; ware; wurde; bricht; verursacht; sollte; kann; hat"),
    (Signal::Connects, "weil; da; damit; dass; und"),
    (
        Signal::Wavers,
        "vielleicht; nicht sicher; unsicher; vermutlich; wahrscheinlich; weiss nicht; glaube; denke",
    ),
    (
        Signal::Withholds,
        "offen lassen; lasse offen; bleibt offen; offenlassen; nicht schliessen; diskutieren;
         klaren wir; haha*",
    ),
    (
        Signal::Asks,
        "warum; wieso; weshalb; kannst du; konntest du; konnen sie; was meinst du; ^ was; ^ wie;
         ^ welche*; ^ sollen wir; ^ sollten wir; verstehe nicht",
    ),
    (Signal::Explains, "weil; da die; da das; denn; deshalb"),
];

use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (
        Signal::Neutral,
        "vale; por la revision; ^ entendido; , entendido; ^ recibido; lo tendre en cuenta;
         lo tendremos en cuenta",
    ),
    (Signal::Thanks, "gracias; muchas gracias"),
    (
        Signal::Fixed,
        "^ corregid*; esta corregid*; queda corregid*; ha sido corregid*; fue corregid*; ya corregid*;
         ^ arreglad*; ya arreglad*; esta arreglad*; ^ solucionad*; esta solucionad*; ^ hecho; ^ listo;
         ^ resuelto; ^ actualizad*; ^ anadid*; ^ agregad*; ^ cambiad*; ^ eliminad*; ^ reemplazad*;
         ^ implementad*; ^ aplicad*; lo corregi; lo he corregido; se ha corregido; hemos corregido;
         he corregido; he anadido; he cambiado; he actualizado; he eliminado; he agregado;
         he reemplazado; hemos cambiado; hemos anadido; corregi; agregue; anadi; cambie; elimine;
         actualice; reemplace; lo arregle; lo cambie; corregido en; arreglado en; solucionado en;
         lo he revertido; he revertido; ^ revertid*; , revertid*; reverti; lo quite; lo he quitado;
         he quitado; borre; deshice; , eliminad*; , corregid*; , quitad*; , borrad*",
    ),
    (Signal::Settled, "ya esta resuelto; ya se resolvio; ya implementad*"),
    (
        Signal::Promises,
        "voy a corregirlo; voy a corregir/cambiar/arreglar/revisar/anadir/agregar; voy a arreglarlo;
         voy a cambiarlo; lo corregire; lo arreglare; lo cambiare; lo reviso; lo arreglo ahora;
         lo corrijo; vamos a corregir/cambiar/arreglar; vamos a corregirlo; vamos a arreglarlo; voy a;
         vamos a; lo cambio; lo arreglo; lo muevo; lo hago; me encargo",
    ),
    (
        Signal::Changes,
        "revert*; reviert*; deshac*; deshag*; quito; quitar*; quita*; elimin*; borro; borrar*; borra;
         borrad*; remov*; retiro; retirar*; lo saco; sacar*; sacalo; renombr*; por favor; hay que;
         habria que; se debe; siguiente commit; proximo commit; ahora mismo; subo",
    ),
    (
        Signal::Declines,
        "no vamos a corregir/cambiar/arreglar/modificar/hacer/tocar/implementar;
         no vamos a corregirlo/cambiarlo/arreglarlo/modificarlo/hacerlo/tocarlo/implementarlo;
         no voy a corregir/cambiar/arreglar/modificar/hacer/tocar/implementar;
         no voy a corregirlo/cambiarlo/arreglarlo/modificarlo/hacerlo/tocarlo;
         no lo voy a corregir/cambiar/arreglar/modificar/hacer/tocar;
         no lo vamos a corregir/cambiar/arreglar/modificar/hacer/tocar;
         no se va a corregir/cambiar/arreglar/modificar; no se corregira; no se cambiara;
         no se modificara; no se arreglara; no lo arreglaremos; no lo cambiaremos; no lo corregiremos;
         ^ rechazado; ^ descartado; riesgo aceptado; asumimos el riesgo; aceptamos el riesgo;
         acepto el riesgo; asumo el riesgo; decidimos no; hemos decidido no; prefiero no; preferimos no",
    ),
    (
        Signal::OutOfScope,
        "fuera de alcance; fuera del alcance; no esta en el alcance; no entra en el alcance;
         esta fuera de alcance; esta fuera del alcance; eso esta fuera del alcance;
         queda fuera del alcance",
    ),
    (
        Signal::Keeps,
        "es intencional; es intencionado; es intencionada; ^ intencional; , intencional;
         es deliberado; es a proposito; a proposito; por diseno $; comportamiento previsto;
         lo dejamos asi; lo dejo asi; lo dejare asi; lo dejaremos asi; se queda asi; dejarlo asi;
         dejarlo como esta; lo dejamos como esta; lo dejo como esta; lo mantenemos; lo mantengo;
         mantenerlo asi; decision de diseno; limitacion conocida",
    ),
    (Signal::Rests, "^ sin cambios; ^ ninguna accion; comportamiento esperado"),
    (
        Signal::Credits,
        "por el aviso; por avisar; por la observacion; por senalar*; por notar*; por detectar*;
         por el apunte",
    ),
    (
        Signal::Agrees,
        "^ de acuerdo $; , de acuerdo $; estoy de acuerdo; totalmente de acuerdo; tienes razon;
         tiene razon; buen punto; buena observacion; buen ojo; bien visto; ^ tiene sentido;
         buena sugerencia; buen hallazgo; buena captura; ^ de acuerdo; ^ cierto; ^ exacto;
         ^ exactamente; ^ verdad; ^ correcto $; culpa mia; error mio; mi error; mi culpa; fallo mio;
         se me paso; se me escapo; me olvide; olvide; por alto; buena idea; buena pregunta;
         efectivamente; tenes razon; tal cual; ups; sin querer; por error; no deberia estar; se colo",
    ),
    (
        Signal::Acknowledges,
        "^ anotado; , anotado; ^ tomo nota; , tomo nota; ^ tomamos nota; ^ enterado; ^ reconocido",
    ),
    (
        Signal::Defers,
        "en otro pr; en un pr aparte; en un pr separado; en un pr posterior; en un pr futuro;
         en el siguiente pr; en el proximo pr; en una iteracion posterior; en un futuro pr;
         he abierto un issue; abri un issue; creado un issue; cree un issue; al backlog;
         en el backlog",
    ),
    (
        Signal::Disputes,
        "no estoy de acuerdo; no de acuerdo; en desacuerdo; no es correcto; incorrect*;
         falso positivo; falsa alarma; no es cierto; no es verdad; estas equivocado; te equivocas;
         se equivoca; equivocad*; no es un bug; no es un error; no es un problema; no es ningun;
         eso no es asi; no es asi; no coincido; no comparto; discrepo; esta mal; no aplica;
         no tienes razon; no tiene razon; no tiene sentido; ya esta implementad*; ya esta cubiert*;
         ya esta contemplad*; ya se maneja; ya se valida; no creo; no veo; erroneo; erronea",
    ),
    (
        Signal::Argues,
        "ya existe; correctamente; no hace falta; no es necesario; no hay; en realidad; de hecho;
         es correcto; funciona; verificado; garantiza; ya esta; ya se; innecesari*",
    ),
    (
        Signal::Denies,
        "no es; no esta; no se; no lo; no puede; no tiene; no hace; no son; no ocurre; nunca; tampoco;
         ningun*",
    ),
    (Signal::Contrasts, "pero; sin embargo; aunque; no obstante; salvo"),
    (Signal::Negates, "no; nunca; tampoco; ni; sin"),
    (
        Signal::Hedges,
        "quizas; quiza; tal vez; no estoy seguro; no se si; a lo mejor; deberiamos; deberia;
         puede que; dices que; segun tu; podria; parece; por que",
    ),
    (Signal::Supposes, "si; cuando"),
    (Signal::Conditions, "hasta que; hasta; a menos que; todavia; aun; mientras"),
    (Signal::Predicates, "es; era; seria; significa; rompe; causa; deberia; puede; tiene"),
    (Signal::Connects, "porque; ya que; para; que; y"),
    (Signal::Wavers, "quizas; quiza; tal vez; no estoy seguro; no se si; a lo mejor; creo que; puede que"),
    (
        Signal::Withholds,
        "dejar abierto; dejo abierto; dejamos abierto; mantener abierto; no cerrar; no resolver;
         hay que discutir; jaja*",
    ),
    (
        Signal::Asks,
        "por que; podrias; puedes explicar; puedes aclarar; que quieres decir; ^ que; ^ cual; ^ como;
         ^ deberiamos; no entiendo",
    ),
    (Signal::Explains, "porque; ya que; debido; puesto que"),
];

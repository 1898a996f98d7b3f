use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (Signal::Neutral, "obrigado; obrigada; valeu; sim; certo ,; pela revisao; pela observacao; pelo aviso"),
    (
        Signal::Fixed,
        "corrigid*; ^ feito; ^ pronto; ^ ajustad*; foi ajustad*; resolvid*; ^ arrumad*; ^ atualizad*;
         foi atualizad*; ^ adicionad*; foi adicionad*; ^ removid*; foi removid*; ^ alterad*;
         foi alterad*; ^ substituid*; ^ implementad*; ^ refatorad*; eu corrigi; corrigi; ajustei;
         alterei; adicionei; removi; atualizei; substitui .. por; troquei; arrumei; mudei; refatorei;
         ja foi corrigid*; apliquei; implementei",
    ),
    (Signal::Settled, "ja implementad*; ja resolvid*; ja foi feito"),
    (
        Signal::Promises,
        "vou corrigir/ajustar/alterar/arrumar/mudar/adicionar/remover/verificar/olhar;
         vamos corrigir/ajustar/alterar/arrumar/mudar/adicionar; irei corrigir/ajustar;
         sera corrigid*; corrigindo",
    ),
    (
        Signal::Declines,
        "nao vou corrigir/alterar/mudar/ajustar/arrumar/mexer/fazer/implementar;
         nao vamos corrigir/alterar/mudar/ajustar/arrumar/mexer/fazer/implementar;
         nao iremos corrigir/alterar/mudar/ajustar/fazer; nao pretendo corrigir/alterar/mudar;
         nao pretendemos corrigir/alterar/mudar; nao sera corrigid*; nao sera alterad*;
         nao sera feito; fora do escopo; fora de escopo; nao faz parte do escopo; nao esta no escopo;
         ^ recusado; ^ rejeitado; risco aceito; aceitamos o risco; aceito o risco; assumimos o risco;
         decidimos nao; optamos por nao; optei por nao; prefiro nao; preferimos nao",
    ),
    (
        Signal::Keeps,
        "e intencional; eh intencional; foi intencional; ^ intencional; , intencional; e proposital;
         foi proposital; ^ proposital; de proposito; por design; por projeto; decisao de projeto;
         decisao de design; comportamento intencional; vou deixar assim; vamos deixar assim;
         deixar como esta; deixando como esta; vou manter; vamos manter; manter como esta;
         mantendo como esta; fica assim; fica como esta; limitacao conhecida",
    ),
    (
        Signal::Rests,
        "^ sem alteracoes; ^ nenhuma acao; ^ nenhuma mudanca necessaria; comportamento esperado;
         e esperado",
    ),
    (
        Signal::Agrees,
        "^ concordo $; concordo com voce/a/o; , concordo $; ^ de acordo $; estou de acordo; tem razao;
         bom ponto; boa observacao; bem observado; ^ faz sentido; boa sacada; bem notado; bem visto",
    ),
    (
        Signal::Acknowledges,
        "^ entendido; ^ anotado; , anotado; ^ ciente; , ciente; ^ estou ciente; ^ estamos cientes;
         ^ reconhecido; ^ registrado; ^ compreendido; tomei nota",
    ),
    (
        Signal::Defers,
        "em outro pr; em um pr separado; num pr separado; em um proximo pr; no proximo pr;
         em um pr futuro; em pr futuro; pr separado; em uma proxima; abri uma issue; criei uma issue;
         abrirei uma issue; no backlog; ao backlog",
    ),
    (Signal::Later, "mais tarde; futuramente"),
    (
        Signal::Disputes,
        "discordo; nao concordo; nao estou de acordo; falso positivo; incorret*; esta errad*;
         ^ errado; nao esta certo; nao esta correto; nao e verdade; nao procede; nao e um bug;
         nao e bug; nao e um problema; nao e problema; nao se aplica; equivocad*; enganad*;
         nao e assim; ja e tratad*; ja esta tratad*; ja esta cobert*; ja esta implementad*; nao acho;
         nao acredito; nao vejo; nao faz sentido",
    ),
    (
        Signal::Argues,
        "ja existe; corretamente; nao e necessario; nao precisa; nao ha; na verdade; de fato;
         esta correto; esta corret*; funciona; verifiquei; garante; ja esta; desnecessari*",
    ),
    (Signal::Denies, "nao; nunca; nenhum*"),
    (Signal::Contrasts, "mas; porem; entretanto; contudo; no entanto; embora; todavia"),
    (Signal::Negates, "nao; nunca; nem; sem"),
    (
        Signal::Hedges,
        "talvez; nao sei; nao tenho certeza; sera que; deveriamos; deveria; acho que; voce disse;
         por que; poderia; pode ser; parece",
    ),
    (Signal::Supposes, "se; quando"),
    (Signal::Conditions, "ate que; ate; a menos que; ainda; enquanto"),
    (Signal::Predicates, "era; seria; sera; significa; quebra; causa; deveria; pode; tem"),
    (Signal::Connects, "porque; pois; para; que; e"),
    (
        Signal::Withholds,
        "deixar aberto; deixando aberto; manter aberto; nao fechar; nao resolver;
         precisa de discussao; kkk*; rsrs*",
    ),
    (
        Signal::Asks,
        "por que; porque voce; poderia explicar; pode explicar; voce pode; o que voce; como assim;
         qual e; ^ qual; ^ como; ^ devemos; nao entendi",
    ),
    (Signal::Explains, "porque; pois; devido"),
];

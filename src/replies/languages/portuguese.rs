use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (Signal::Neutral, "sim; certo ,; pela revisao; ^ entendido; ^ compreendido; ^ beleza"),
    (Signal::Thanks, "obrigado; obrigada; valeu"),
    (
        Signal::Fixed,
        "corrigid*; ^ feito; ^ pronto; ^ ajustad*; foi ajustad*; resolvid*; ^ arrumad*; ^ atualizad*;
         foi atualizad*; ^ adicionad*; foi adicionad*; ^ removid*; foi removid*; ^ alterad*;
         foi alterad*; ^ substituid*; ^ implementad*; ^ refatorad*; eu corrigi; corrigi; ajustei;
         alterei; adicionei; removi; atualizei; substitui .. por; troquei; arrumei; mudei; refatorei;
         ja foi corrigid*; apliquei; implementei; reverti; desfiz; tirei; retirei; apaguei; exclui;
         renomeei; ^ revertid*; , revertid*; ^ desfeito; , removid*; , feito; voltei",
    ),
    (Signal::Settled, "ja implementad*; ja resolvid*; ja foi feito"),
    (
        Signal::Promises,
        "vou corrigir/ajustar/alterar/arrumar/mudar/adicionar/remover/verificar/olhar;
         vamos corrigir/ajustar/alterar/arrumar/mudar/adicionar; irei corrigir/ajustar; sera corrigid*;
         corrigindo; vou; vamos; irei; ja ajusto; ajusto ja; corrijo; altero; mudo",
    ),
    (
        Signal::Changes,
        "revert*; desfaz*; desfac*; desfei*; remov*; tirar; tiro; tira; tirei; retiro; retirar*; apag*;
         excluir; excluo; excluid*; delet*; renome*; volto; voltar; por favor; favor; preciso *ar;
         precisa ser; precisamos; deve ser; push; ja ja; agora mesmo; proximo commit",
    ),
    (
        Signal::Declines,
        "nao vou corrigir/alterar/mudar/ajustar/arrumar/mexer/fazer/implementar;
         nao vamos corrigir/alterar/mudar/ajustar/arrumar/mexer/fazer/implementar;
         nao iremos corrigir/alterar/mudar/ajustar/fazer; nao pretendo corrigir/alterar/mudar;
         nao pretendemos corrigir/alterar/mudar; nao sera corrigid*; nao sera alterad*; nao sera feito;
         ^ recusado; ^ rejeitado; risco aceito; aceitamos o risco; aceito o risco; assumimos o risco;
         decidimos nao; optamos por nao; optei por nao; prefiro nao; preferimos nao",
    ),
    (
        Signal::OutOfScope,
        "fora do escopo; fora de escopo; nao faz parte do escopo; nao esta no escopo;
         esta fora do escopo; esta fora de escopo; fica fora do escopo; e fora do escopo",
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
        Signal::Credits,
        "pela observacao; pelo aviso; por avisar; por apontar; pelo toque; por notar; por ter visto",
    ),
    (
        Signal::Agrees,
        "^ concordo $; concordo com voce/a/o; , concordo $; ^ de acordo $; estou de acordo; tem razao;
         bom ponto; boa observacao; bem observado; ^ faz sentido; boa sacada; bem notado; bem visto;
         ^ concordo; ^ verdade; ^ boa; passou batido; erro meu; falha minha; culpa minha; vacilo;
         esqueci; me escapou; foi mal; bem lembrado; boa ideia; boa pegada; otima observacao;
         otimo ponto; ^ exato; ^ exatamente; realmente; ^ certo $; ^ correto $; ^ isso mesmo;
         sem querer; por engano; nao devia",
    ),
    (
        Signal::Acknowledges,
        "^ anotado; , anotado; ^ ciente; , ciente; ^ estou ciente; ^ estamos cientes; ^ reconhecido;
         ^ registrado; tomei nota",
    ),
    (
        Signal::Defers,
        "em outro pr; em um pr separado; num pr separado; em um proximo pr; no proximo pr;
         em um pr futuro; em pr futuro; pr separado; em uma proxima; abri uma issue; criei uma issue;
         abrirei uma issue; no backlog; ao backlog",
    ),
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
    (Signal::Wavers, "talvez; nao sei; nao tenho certeza; acho que; quem sabe; provavelmente"),
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

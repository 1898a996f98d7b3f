use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (Signal::Neutral, "tesekkurler; tesekkur ederim; evet"),
    (
        Signal::Fixed,
        "duzeltildi; duzelttim; duzelttik; giderildi; eklendi; ekledim; guncellendi; guncelledim;
         degistirildi; degistirdim; kaldirildi; kaldirdim; cozuldu; cozdum; yapildi; uygulandi;
         tamamlandi",
    ),
    (Signal::Promises, "duzeltecegim; duzeltecegiz; ekleyecegim; bakacagim"),
    (
        Signal::Declines,
        "duzeltilmeyecek; duzeltmeyecegim; duzeltmeyecegiz; degistirmeyecegiz; degistirmeyecegim;
         kapsam disi; kapsami disinda",
    ),
    (
        Signal::Keeps,
        "bilerek yapildi; bilincli bir tercih; bilincli tercih; kasitli olarak; boyle kalacak;
         oldugu gibi birakiyorum; oldugu gibi birakiyoruz",
    ),
    (Signal::Agrees, "^ katiliyorum; haklisin; haklisiniz; iyi yakaladin"),
    (Signal::Acknowledges, "^ anlasildi; ^ not edildi; ^ not aldim"),
    (Signal::Defers, "ayri bir pr; sonraki pr"),
    (Signal::Later, "daha sonra"),
    (
        Signal::Disputes,
        "katilmiyorum; yanlis; hatali tespit; dogru degil; sorun degil; hata degil; gecerli degil",
    ),
    (
        Signal::Argues,
        "kontrol edildi; dogrulandi; zaten; mevcut; gerek yok; sorun yok; sorunu yasanmayacak*;
         uyumlu",
    ),
    (Signal::Denies, "degil; yok"),
    (Signal::Contrasts, "ama; ancak; fakat"),
    (Signal::Negates, "degil"),
    (Signal::Hedges, "belki; emin degilim; neden"),
    (Signal::Supposes, "eger"),
    (Signal::Conditions, "kadar; henuz"),
    (Signal::Asks, "neden; nicin; nasil; aciklar misin"),
];

use super::{PhraseTable, Signal};

pub(super) const PHRASES: PhraseTable = &[
    (Signal::Neutral, "evet; ^ anlasildi; ^ tamam"),
    (Signal::Thanks, "tesekkurler; tesekkur ederim; sagol*"),
    (
        Signal::Fixed,
        "duzeltildi; duzelttim; duzelttik; giderildi; eklendi; ekledim; guncellendi; guncelledim;
         degistirildi; degistirdim; kaldirildi; kaldirdim; cozuldu; cozdum; yapildi; uygulandi;
         tamamlandi; geri aldim; geri alindi; sildim; silindi; cikardim; cikarildi; tasidim",
    ),
    (
        Signal::Promises,
        "duzeltecegim; duzeltecegiz; ekleyecegim; bakacagim; yapacagim; duzeltiyorum; degistiriyorum;
         kaldiriyorum; siliyorum; geri aliyorum; ekliyorum",
    ),
    (
        Signal::Changes,
        "geri al*; kaldir*; siliyor*; silece*; sildim; sil; cikariyor*; cikarac*; degistir*; duzelt*;
         ekley*; ekliy*; adlandir*; tasiyor*; lutfen; gerek*; hemen",
    ),
    (
        Signal::Declines,
        "duzeltilmeyecek; duzeltmeyecegim; duzeltmeyecegiz; degistirmeyecegiz; degistirmeyecegim",
    ),
    (Signal::OutOfScope, "kapsam disi; kapsami disinda"),
    (
        Signal::Keeps,
        "bilerek yapildi; bilincli bir tercih; bilincli tercih; kasitli olarak; boyle kalacak;
         oldugu gibi birakiyorum; oldugu gibi birakiyoruz",
    ),
    (Signal::Credits, "uyari icin; uyardigin* icin; fark ettigin* icin; yakaladigin* icin"),
    (
        Signal::Agrees,
        "^ katiliyorum; haklisin; haklisiniz; iyi yakaladin; hakli*; ^ dogru $; benim hatam; hata benim;
         gozden kac*; unutmusum; unuttum; atlamisim; iyi yakala*; guzel yakala*; iyi fikir; kesinlikle;
         yanlislikla",
    ),
    (Signal::Acknowledges, "^ not edildi; ^ not aldim"),
    (Signal::Defers, "ayri bir pr; sonraki pr"),
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
    (Signal::Wavers, "belki; emin degilim; sanirim; galiba"),
];

//! Replies of review bots in their threads that try to be taken for an acceptance. The sets came about like those
//! in `people.rs`.

/// A stance as `cloture classify` prints it, and replies that have it.
pub(crate) type LabelledStance = (Option<&'static str>, &'static [&'static str]);

/// All sets with their names.
pub(crate) const SETS: [(&str, &[LabelledStance]); 5] =
    [("tuning", TUNING), ("held out", HELD_OUT), ("second", SECOND), ("third", THIRD), ("fourth", FOURTH)];

const TUNING: &[LabelledStance] = &[
    (
        Some("accepts"),
        &[
            "You're right, the middleware validates the header first. I'm withdrawing this finding.",
            "Confirmed, the new guard in `load()` addresses the concern. Thanks for the quick fix!",
            "Great fix! The handle is closed on every path now.",
            "Thanks for the update. The issue is resolved.",
            "You're absolutely right, and I apologize for the confusion. The current implementation is \
             correct.",
            "I misread the diff. My comment does not apply here.",
            "That makes sense, thanks for explaining. I'll resolve this thread.",
            "Understood, this is intentional. No further action needed.",
            "Looks good to me now.",
            "LGTM!",
            "You're right.",
            "My suggestion was incorrect: the list is already sorted by the caller.",
            "Acknowledged: deferred to a separate issue. Closing this thread.",
            "Verified at 3fa92c1: the null check is in place and the test covers it.",
            "✅ Review thread resolved.",
            "Fair point, the cost is not worth it for a debug tool. I retract the suggestion.",
            "The concern no longer applies after the refactoring.",
            "Nice work, this resolves the race.",
            "`@dev`, thanks for confirming. I've dropped the finding.",
            "ご対応ありがとうございます。問題は解決されました。",
            "おっしゃる通りです。私の指摘は誤りでしたので、撤回します。",
            "您说得对，我撤回这条评论。",
            "맞습니다. 제 지적이 잘못되었습니다. 철회합니다.",
            "Tienes razón, retiro mi comentario.",
            "Você tem razão, retiro o comentário.",
            "Vous avez raison, je retire ma remarque.",
            "Du hast recht, ich ziehe den Hinweis zurück.",
            "Вы правы, снимаю замечание.",
            "Haklısınız, yorumumu geri çekiyorum.",
        ],
    ),
    (
        Some("seeks_change"),
        &[
            "Thanks for the explanation. However, the second caller still reaches this branch without the \
             lock.",
            "You're right that the value is validated. Please add a test that shows it.",
            "Good point, but the timeout is not covered by that loop.",
            "Understood. I still recommend checking the length first.",
            "Thanks for the context! The concern remains valid: `close()` is skipped on error.",
            "You're correct about the lock. You should also guard the cache.",
            "Fair point about performance. I'd suggest at least logging the error.",
            "The fix only partially addresses the concern: the async path is unchanged.",
            "I understand the reasoning, but this does not fix the overflow.",
            "That makes sense for the happy path. Consider handling the empty list as well.",
            "I'm keeping the finding. A proper fix would hold the lock during the write.",
            "Acknowledged. The correct solution is to move the check into the constructor.",
            "Thank you for clarifying. I respectfully disagree, the cast can overflow on 32-bit targets.",
            "You are right, this needs to be changed in both files.",
            "You're right, the suggestion was incomplete. Use `try_from` here instead.",
            "The issue has not been addressed in the latest commit.",
            "Great question! The loop must stop before the last element, so please adjust the bound.",
            "ありがとうございます。しかし、問題はまだ修正されていません。",
            "ご説明ありがとうございます。ただし、テストの追加を推奨します。",
            "谢谢说明，但是问题仍然存在，建议加锁。",
            "설명 감사합니다. 하지만 여전히 경합이 남아 있습니다.",
            "Gracias por aclarar. Sin embargo, recomiendo añadir una prueba.",
            "Obrigado pela explicação, mas o problema ainda persiste.",
            "Merci pour la précision. Cependant, il faudrait vérifier la longueur.",
            "Danke für die Erklärung. Das Problem besteht jedoch weiterhin.",
            "Спасибо за уточнение, но рекомендую добавить проверку.",
        ],
    ),
    (
        None,
        &[
            "Thanks for the explanation!",
            "I'll take another look once the new commit is pushed.",
            "Could you share the stack trace?",
            "As a bot, I cannot resolve comments on GitHub.",
            "Let me check the current state of the file.",
            "Is the lock also taken in the second caller?",
            "I see you added a cache. It is filled before the configuration is read.",
        ],
    ),
];

const HELD_OUT: &[LabelledStance] = &[
    (
        Some("accepts"),
        &[
            "Good catch on my part being wrong here: the branch is unreachable. Withdrawn.",
            "Thank you for the fix! The pointer is now checked before use.",
            "You're right, `parse` never returns null. I withdraw the comment.",
            "Perfect, the change in 91ab3fe resolves the issue.",
            "Thanks for addressing this!",
            "Excellent, both findings are fixed now.",
            "I was wrong about the ordering. No changes needed.",
            "Your reasoning is sound, and the existing code is fine as it is.",
            "Agreed, out of scope for this PR. I'll leave it to the follow-up issue.",
            "Makes sense! Keeping the explicit loop is reasonable here. Resolving.",
            "Confirmed: fixed in the latest commit.",
            "Sorry for the noise, this was a false positive.",
            "My mistake, I was looking at an outdated version of the file.",
            "Retracting: the schema guarantees the field.",
            "The update looks correct. Thanks!",
            "Resolved, thank you.",
            "修正ありがとうございます。問題ありません。",
            "ご指摘の通り、私の前回のコメントは不正確でした。",
            "感谢修复，问题已解决。",
            "수정해 주셔서 감사합니다. 문제가 해결되었습니다.",
            "Gracias por corregir. Queda resuelto.",
            "Obrigado por corrigir, está resolvido.",
            "Merci pour la correction, c'est résolu.",
            "Danke für den Fix, das Problem ist behoben.",
            "Спасибо за исправление, проблема устранена.",
            "Düzeltme için teşekkürler, sorun çözüldü.",
        ],
    ),
    (
        Some("seeks_change"),
        &[
            "Appreciate the background. Even so, an attacker controls this string, so it should be escaped.",
            "You're right that tests exist. They do not exercise the error path, though.",
            "Thanks for the update! One more thing: the temp file is never deleted.",
            "Makes sense, but I'd still move the allocation out of the loop.",
            "Agreed on the naming. Please rename the second parameter too.",
            "Good point. That said, the retry has no upper bound and can spin forever.",
            "I hear you; my recommendation stands.",
            "Noted. The risk is that two workers pick the same job.",
            "The change looks good, except that the lock is released too early.",
            "Looks correct at first glance, but the index is off by one.",
            "Fixed in one place, still missing in `export.rs`.",
            "You're right, I should have been clearer: replace the whole block with a transaction.",
            "Great point! To make it safe, wrap the call in a mutex.",
            "I don't think this is resolved.",
            "Thanks! Could you also handle the case where the list is empty?",
            "I appreciate the explanation, yet the finding stands.",
            "The proper fix is to validate the input.",
            "おっしゃる通りですが、引き続き対応が必要です。",
            "您说得对，不过还需要处理空值。",
            "맞습니다. 다만 널 체크를 추가해 주세요.",
            "Tienes razón, pero falta validar la entrada.",
            "Você tem razão. Por favor, adicione um teste.",
            "Vous avez raison, mais il manque un test.",
            "Sie haben recht, allerdings sollte der Fehler protokolliert werden.",
            "Вы правы, однако нужно закрыть файл.",
            "Haklısınız, ancak bir test eklemeniz gerekir.",
        ],
    ),
    (
        None,
        &[
            "Thanks for the clarification.",
            "Understood. The concern is about the second call.",
            "Interesting approach.",
            "I don't have access to that repository.",
            "Do you mean the function in `util.rs`?",
            "Happy to help with anything else.",
            "You are correct that the function is private. It is exported through the macro.",
        ],
    ),
];

/// Written after the rules were tuned on the first half.
const SECOND: &[LabelledStance] = &[
    (
        Some("accepts"),
        &[
            "`@sam`, you're right: `normalize()` runs before this point, so the trim is redundant. I'll drop \
             this comment.",
            "Thanks for the details! I see that the pool is bounded by the semaphore. My concern doesn't apply.",
            "I re-checked the file and the bounds check is in place. Resolved.",
            "Ah, I was looking at an old revision. Apologies for the confusion!",
            "Agreed, this is by design. Nothing more to do here, no changes required.",
            "Nice, that fixes the problem.",
            "Your explanation makes sense. I'm withdrawing the suggestion.",
            "The fix is correct. 🎉",
            "確認しました。ご対応ありがとうございます！",
            "谢谢，问题已修复。",
            "Merci pour le correctif !",
            "Danke, das Problem wurde behoben.",
        ],
    ),
    (
        Some("seeks_change"),
        &[
            "Thank you for the pushback. Looking at it again, the iterator is consumed twice, so the second \
             loop sees nothing. I'd keep the collect.",
            "You're right, and the simplest way to get there is to pass the limit into `read`. Please do that.",
            "Agreed that it is rare. It is still reachable from the public API.",
            "I see your point about churn. My view is unchanged: an unchecked cast here is a security issue.",
            "Thanks for the fix! The second half of the finding is not addressed.",
            "Good catch! You'll also want to update the changelog.",
            "Makes sense. Before merging, add a regression test.",
            "Fixed for the sync client. The async client has the same problem.",
            "That explains the ordering, not the missing unlock.",
            "The suggested change is required for correctness.",
            "ご説明ありがとうございます。それでも入力検証は必要です。",
            "明白了，建议还是加上超时。",
            "Verstanden. Ich würde die Prüfung trotzdem ergänzen.",
            "Entiendo, aunque convendría cerrar el archivo.",
        ],
    ),
    (
        None,
        &[
            "Got it, thanks for letting me know.",
            "Thanks for the context, I'll remember that for future reviews.",
            "Which branch is this based on?",
            "I can't open that link.",
        ],
    ),
];

/// Written after those rules. Its misses led to the rule that a weak sign accepts only alone.
const THIRD: &[LabelledStance] = &[
    (
        Some("accepts"),
        &[
            "Thanks, the rename in 77ac210 addresses this.",
            "You're right, the generated file is excluded from the build. Withdrawing the comment.",
            "Confirmed. The retry is bounded and the concern is resolved.",
            "I apologize for the confusion. The existing approach is correct.",
            "Good to go! Looks good now.",
            "That was a false positive on my side.",
            "了解，该问题已解决。",
            "指摘を取り下げます。",
        ],
    ),
    (
        Some("seeks_change"),
        &[
            "Thanks for walking me through this. My recommendation stays the same.",
            "You're right about the cost. A cheaper variant: cache the length once outside the loop.",
            "I agree the path is cold. An attacker can reach it with a crafted header, which is why I'd keep \
             this open.",
            "Good point! In that case the doc comment is misleading and should say so.",
            "Thanks for fixing the first occurrence. Line 80 has it too.",
            "Makes sense. Then the test name needs an update as well.",
            "The explanation is convincing for single-threaded use, less so for the worker pool.",
            "Understood, though I'd feel better with an assertion here.",
            "您说得对。另外请补充单元测试。",
            "Vous avez raison. Pensez aussi à fermer le flux.",
        ],
    ),
    (None, &["Thanks for the heads-up!", "Noted.", "Sure, I can explain: the lint reads the file twice."]),
];

/// Written after those rules. Its misses led to the rule that nothing unknown may follow a plain sign.
const FOURTH: &[LabelledStance] = &[
    (
        Some("accepts"),
        &[
            "You're right, thanks for the correction!",
            "I've verified the latest commit: the issue is resolved.",
            "Understood, keeping it as is by design. I'll resolve this.",
            "Withdrawn, the type system already rules this out.",
            "Thanks for fixing this!",
        ],
    ),
    (
        Some("seeks_change"),
        &[
            "You're right, my wording was off. What I meant: guard the write, not the read.",
            "Thanks for the fix. The sibling in `b.rs` carries the identical defect.",
            "That makes sense for now. Long term this wants a real queue.",
            "I was wrong about the type. The bound is what matters, and it is off.",
            "The issue is resolved for reads. Writes go through the old path.",
            "No changes needed in the parser. The lexer is where it goes wrong.",
            "Looks good! Just swap the two arguments.",
        ],
    ),
    (None, &["Thanks!", "Let me think about that."]),
];

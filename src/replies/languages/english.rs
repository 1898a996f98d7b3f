use super::{PhraseTable, Signal};

/// Past forms that report a change if they begin a clause or follow "I", "we've", "has been" and the like.
pub(in super::super) const CHANGE_VERBS: &str = "
    added addressed adjusted adopted aligned amended applied bumped capped centralized changed
    clarified cleaned collapsed committed consolidated converted corrected covered created
    decoupled deduplicated deleted disabled documented done dropped eliminated enabled enforced
    escaped expanded exported extended extracted fixed folded gated guarded handled hardened
    implemented improved incorporated increased inlined introduced landed limited lowered made
    merged migrated moved narrowed normalized parameterized patched pinned pushed quoted raised
    rebased reduced refactored refreshed regenerated relaxed removed renamed reordered repaired
    rephrased replaced resolved restored restructured reverted reworded reworked rewritten
    rewrote sanitized scoped simplified softened solved sorted split standardized switched
    synced tightened trimmed tweaked unified updated upgraded used validated widened wired
    wrapped
";

pub(super) const PHRASES: PhraseTable = &[
    (
        Signal::Neutral,
        "mark* .. as resolved; mark* .. resolved; ok; okay; yes; yep; yeah; yup; sure; ^ hi; ^ hey;
         ^ hello; ^ fyi; for the review; for the feedback; for the suggestion;
         go/goes/going/went/gone/gets/got/falls/drops/moves out of scope; leaves/left scope;
         variable/binding/lifetime/closure/guard/handle/pointer/reference/value/lock/\
         temporary .. out of scope; where required; where applicable; where needed; as noted above;
         as agreed upon; agreed upon; not only; not just; if needed; if necessary; not yet landed;
         as is the case;
         out of scope for/of this/the/that rule/linter/check/lint/policy/spec/analyzer/checker/tool/\
         scanner/warning; ^ understood; , understood $; ^ got it; , got it $; ^ roger that; ^ roger;
         ^ accepted $; ^ accepted ,; taken on board; will/i'll/we'll keep .. in mind;
         please resolve/close $; please resolve/close this/it/the $;
         please resolve/close this/the thread/conversation/comment;
         changing/fixing/removing/renaming/moving/adding/replacing/touching/dropping/deleting/\
         reverting/splitting/refactoring/updating/rewriting/altering/modifying/restoring/editing/\
         converting .. would break/need/require/cause/add/mean/force/cost/lose/hide/risk/complicate/\
         duplicate/violate/inject",
    ),
    (Signal::Thanks, "thanks; thank you; thx; ty; tysm; cheers; appreciate*; much appreciated"),
    (
        Signal::Fixed,
        "^ @change; ^ now @change; ^ just @change; ^ all @change; ^ both @change;
         ^ already fixed/addressed/corrected; ^ and @change; , @change in; , @change by; i @change;
         we @change; i just @change; i also @change; i've @change; i've also @change; i've now @change;
         i've just @change; we've @change; we've now @change; i've gone ahead; has been @change;
         have been @change; has now been @change; have now been @change; is now @change;
         are now @change; now @change; was/were @change .. <sha>; was/were @change .. commit;
         were @change entirely; was/were fixed/addressed/corrected/resolved/removed;
         been fixed/addressed/corrected/resolved; got fixed/addressed;
         already fixed/addressed/corrected; it's fixed/done; that's fixed/done; this is fixed/done;
         this is now; @change in <sha>; @change in commit; @change in pr; @change in #*;
         @change in the latest; @change in latest; @change by <sha>; @change via <sha>;
         @change with <sha>; @change at <sha>; @change as suggested; @change as requested;
         @change accordingly; @change inline; fix/fixes in <sha>; fix commit <sha>; fix .. <sha>;
         see <sha>; see commit; ^ commit <sha>; ^ <sha>; in commit <sha>; merged at <sha>;
         , commit <sha>; commit <sha>; in amend <sha>; same fix as; should be fixed now;
         should be fixed in; should be resolved now; should be good now; should now;
         should be addressed now; ^ fix applied; fix applied; fix pushed; fixes pushed; pushed a fix;
         pushed the fix; pushed a commit; applied the suggestion; applied your suggestion;
         took the suggestion; went with your; suggestion applied; changes applied; all set now;
         now uses/handles/resolves/covers/validates/returns/checks/reads/includes/states/points/throws;
         now skips/rejects/accepts/calls/shows/matches/logs/requires/raises/fails/explicitly/correctly;
         now has; now have; now names; now says; now lists; now guards; now explains; superseded by the;
         superseded by commit; replaced .. with; changed .. to use; ^ now *ing; now using; , @change $;
         took it/this/that/them out; taken out; pulled it/this/that/them out; pulled out;
         backed it/this/that out; backed out; rolled it/this/that back; rolled back; ^ undid; i undid;
         , undid; ^ stripped; i stripped; , stripped; ^ got rid of; , moved to; ^ squashed;
         good call , @change",
    ),
    (
        Signal::Settled,
        "no longer; already implemented; already has; already have; already resolved; already done;
         already in place; already updated; already removed; already landed; earlier version;
         previous version; prior version; earlier commit; previous commit; fixed upstream;
         current head; latest commit; latest commits; latest push",
    ),
    (
        Signal::Promises,
        "should be fixed; should be addressed;
         will fix/update/change/address/do/add/remove/correct/handle/look/take/push/rework/adjust/be;
         i'll fix/update/change/address/do/add/remove/correct/handle/look/take/push/rework/adjust/\
         check/be/try;
         we'll fix/update/change/address/do/add/remove/correct/handle/look/take/push/rework/adjust/\
         check/be/try; let me; ^ fixing; ^ updating; ^ working on; ^ on it; i'm on it;
         going to fix/update/change/add; ^ looking; ^ checking; ^ investigating; wip; soon $;
         we should fix; we need to fix; needs to be fixed; should be fixed before; must be fixed;
         has to be fixed; todo for me; in a minute; give me; i'll; we'll; i'm *ing; i'm going to;
         we're going to; gonna; ^ will; , will; | will; and will; but will; so will; i can; i could;
         happy to; will be fixed/changed/removed/updated/reverted/renamed/done; will do;
         fix/fixes incoming; incoming $; on my list; todo for; working on; , *ed it/this/that/them;
         , *ed $; ^ *ed it/this/that/them; and *ed it/this/that/them; , *ing it/this/that/them;
         , *ing $; ^ *ing it/this/that/them; and *ing it/this/that/them",
    ),
    (
        Signal::Changes,
        "revert*; rollback*; roll/rolls/rolling .. back; rolled back; undo*; undid;
         back/backs/backing it/this/that/them out; backed .. out; pull/pulling it/this/that/them out;
         pull/pulling out; pulled .. out; take/takes/taking/took/taken it/this/that/them out; taken out;
         rip* .. out; cut it/this/that; strip/strips/stripped/stripping; remov*; delet*;
         drop/dropped/dropping/drops; get/gets/getting/got rid; kill it/this/that; nuk*; renam*;
         rework*; rephras*; reword*; amend*; push/pushes/pushed/pushing; squash*; can go; should go;
         must go; has to go; have to go; needs to go; go away before;
         ^ removing/renaming/moving/adding/replacing/dropping/deleting/splitting/updating/rewriting/\
         changing/fixing/taking/pulling/pushing/applying/switching/reworking/cleaning/correcting/\
         adjusting/undoing/stripping/amending/squashing/rebasing/swapping/cutting/ripping/killing/\
         backing/rolling/extracting/inverting/folding;
         , removing/renaming/moving/adding/replacing/dropping/deleting/splitting/updating/rewriting/\
         changing/fixing/taking/pulling/pushing/applying/switching/reworking/cleaning/correcting/\
         adjusting/undoing/stripping/amending/squashing/rebasing/swapping/cutting/ripping/killing/\
         backing/rolling/extracting/inverting/folding;
         and removing/renaming/moving/adding/replacing/dropping/deleting/splitting/updating/\
         rewriting/changing/fixing/taking/pulling/pushing/applying/switching/reworking/cleaning/\
         correcting/adjusting/undoing/stripping/amending/squashing/rebasing/swapping/cutting/ripping/\
         killing/backing/rolling/extracting/inverting/folding;
         so removing/renaming/moving/adding/replacing/dropping/deleting/splitting/updating/rewriting/\
         changing/fixing/taking/pulling/pushing/applying/switching/reworking/cleaning/correcting/\
         adjusting/undoing/stripping/amending/squashing/rebasing/swapping/cutting/ripping/killing/\
         backing/rolling/extracting/inverting/folding; now *ing; moved it/this/that/them;
         move it/this/that/them; moved to; moving to; moving it/this/that/them; split out;
         i/we/you/someone/somebody should; we/i/you need to; we/i/you have to;
         this/it/that/which/still needs; this/it/that should; needs to be; need to be; , needs;
         should be; should clean; must be; has to be; let's; please; pls; plz; go ahead; feel free;
         be my guest; apply this/that/it/the; do it; just do; before merg*; before we;
         before the release; before release; next push; next commit; in a minute; in a moment; in a bit;
         a second; a sec; shortly; tonight; tomorrow; today; asap; right away; soon; doesn't belong;
         don't belong; not belong; wrong branch; another branch; other branch; different branch;
         shouldn't be here/there/in/part; shouldn't have; not part of this; nothing to do with;
         wasn't meant; not meant; not supposed; unintended; unintentional*; not intended;
         not intentional; wasn't intended/intentional; accident*; by mistake; mistakenly; so i; so i've;
         so we; then i; i've; we've; i just; i also; i only; i did; i *ed;
         i made/put/took/cut/threw/got/wrote/split/ran/built/went/ended/gave; did it/so/that; anyway;
         after all; edit |; update |",
    ),
    (
        Signal::Declines,
        "^ won't fix $; ^ won't fix this/it/here/for/as/because/since/per/due/and/at/these/that;
         , won't fix $; , won't do $; , won't do this/it;
         , won't fix this/it/here/for/as/because/since/per/due; ^ it's won't fix; ^ a won't fix;
         this is a won't fix; it's a won't fix; as won't fix; as a won't fix; closing .. won't fix;
         marking .. won't fix; resolving .. won't fix; wontfix; won't be addressing; won't be fixing;
         won't be changing; won't be doing; won't be fixed here; won't be fixed in this;
         won't be addressed here; won't be addressed in this; won't be changed in this;
         won't be changed here;
         ^ not going to fix/change/do/address/implement/touch/refactor/rename/add/act/bother/apply;
         ^ not fixing; ^ not changing; ^ not doing; ^ not addressing; ^ not implementing;
         ^ not applying; i'm not fixing/changing/doing/addressing/implementing/touching/adding/applying;
         we're not fixing/changing/doing/addressing/implementing/touching/adding/applying;
         i'd rather not; we'd rather not; i'd prefer not to; we'd prefer not to; prefer not to change;
         ^ declining $; ^ declining this/the/to/as/per/because/for/since; , declining this/the/as/to;
         ^ skipping this $; ^ skipping this one; we'll pass on this; ^ won't do $;
         ^ won't do this/it/that; ^ won't change this/it/that; ^ won't change $; ^ won't be fixed;
         ^ won't be fixing/addressing/changing/doing; i decline; we decline; i'm declining;
         we're declining; ^ dismissing as; ^ skipping $; ^ passing on this; we don't want to change;
         decided against; ^ no action $; no action will be taken; taking no action; will take no action;
         accept the risk; accept this risk; accepting the risk; accepting this risk; risk accepted;
         risk is accepted; accepted trade off; accepted tradeoff; not worth changing;
         not worth the churn; not worth it $; not worth fixing; not worth doing;
         not worth the complexity; ^ nah , leaving; ^ skipped $;
         i won't fix/address/implement/touch/refactor/rename/remove/adopt/apply;
         i won't do/change this/it/that/these/those/so/the/anything; i won't do/change $;
         we won't fix/address/implement/touch/refactor/rename/remove/adopt/apply;
         we won't do/change this/it/that/these/those/so/the/anything; we won't do/change $;
         i won't add a/an/another/the/this/it; we won't add a/an/another/the/this/it;
         i'm/we're not going to fix/change/do/address/implement/touch/refactor/rename/add/remove/\
         rewrite/act/apply/split/move/adopt/introduce/support/handle/pursue/update/make/use;
         decided/opted/opting/chose/choosing not to fix/change/do/address/implement/touch/refactor/\
         rename/add/remove/rewrite/act/apply/split/move/adopt/introduce/support/handle/pursue/update/\
         make/use;
         no plans to fix/change/do/address/implement/touch/refactor/rename/add/remove/rewrite/act/\
         apply/split/move/adopt/introduce/support/handle/pursue/update/make/use;
         don't plan/intend to fix/change/do/address/implement/touch/refactor/rename/add/remove/\
         rewrite/act/apply/split/move/adopt/introduce/support/handle/pursue/update/make/use;
         not planning to fix/change/do/address/implement/touch/refactor/rename/add/remove/rewrite/\
         act/apply/split/move/adopt/introduce/support/handle/pursue/update/make/use; accepted risk $;
         accepted risk for/here/since/because/as/in; ^ declined $;
         ^ declined as/per/by/for/because/since/here/to/this/the; , declined $;
         , declined as/per/by/for/because/since/here; so won't fix $; so won't fix this/it/here;
         ^ won't address this/it/that/here; ^ won't address $; ^ won't implement this/it/that/here;
         ^ won't implement $; ^ rejected $; i'll pass on this;
         resolving/closing/marking/dismissing/resolve/close .. out of scope",
    ),
    (
        Signal::OutOfScope,
        "out of scope $; out of scope for/here/of/and/so/because/at/right/imo; outside the scope;
         outside of scope; outside scope; beyond the scope; beyond scope; not in scope; isn't in scope;
         aren't in scope; out of scope in this/the",
    ),
    (
        Signal::Keeps,
        "it's intentional; that's intentional; ^ intentional; it's deliberate; that's deliberate;
         ^ deliberate; this is intended; it's intended; that's intended; ^ intended $; ^ intended ,;
         known and accepted; explicitly accepted; accepted limitation; ^ intended behavio*;
         not by accident; not an accident; not an oversight; not accidental; ^ leaving it $;
         ^ leaving this $; leaving .. as is; leaving .. as it's; ^ leave as is; leaving .. alone;
         leaving it/this/them like this/that; leaving it/this/them for now; ^ leaving as is;
         keeping .. as is; keeping .. as it's; ^ keep as is; ^ kept as is; ^ kept .. as is;
         this/it stays as is; ^ staying as is; ^ stays as is; stays as it's;
         ^ keeping the current/existing; let's leave/keep it/this; we leave/keep it/this as is;
         keeping this/it/them $; keeping this/it/them for; i'll leave it; we'll leave it;
         not a priority; ^ yagni; this is yagni; ^ on purpose; this is on purpose; it's on purpose;
         that's on purpose; ^ kept deliberately/intentionally; ^ keeping .. deliberately/intentionally;
         prefer to keep/leave it/this/that/them; rather keep/leave it/this/that/them;
         let's/please/i'll/we'll/i'd/we'd/to keep/leave it/this/that/them as is; ^ as designed $;
         ^ project convention $; ^ house style $; ^ repo convention $; ^ design decision;
         ^ design choice; this/which is intentional/deliberate; these are intentional/deliberate;
         they're intentional/deliberate; it's/that's intentional/deliberate; it's/that's by design;
         this/which is by design; as by design;
         it's/this/that's a deliberate/conscious/design choice/decision/tradeoff;
         this is a deliberate/conscious/design/intentional choice/decision/tradeoff; ^ known limitation;
         ^ acceptable; ^ by design $; ^ by design here/for/and/because/since/as/so/to/in/per;
         i'm/we're/i'd/we'd/i'll/we'll keeping/keep/leave it/this/that/these/them/the/both/our/as;
         sticking with it/this/the/our",
    ),
    (
        Signal::Intends,
        "is intentional; are intentional; was intentional; were intentional; , intentional;
         as intentional; fully intentional; entirely intentional; quite intentional; intentional and;
         intentional choice/design/decision/tradeoff; intentional trade off; intentional here;
         is deliberate; are deliberate; was deliberate; deliberate choice/decision/tradeoff;
         deliberate design; deliberate trade off; a conscious choice; a conscious decision;
         conscious tradeoff; conscious trade off; is intended $; known limitation;
         acceptable trade off; acceptable tradeoff; acceptable risk; is intended behavio*;
         is the intended behavio*; happy with the current; fine with the current; done on purpose;
         known trade off; known tradeoff; by design $;
         by design here/for/and/because/since/as/so/to/in/per/not; per design $; a design decision;
         a design choice",
    ),
    (
        Signal::Rests,
        "no action needed; no action required; no action necessary; no further action;
         no change needed; no change required; no changes needed; no changes required;
         no change necessary; no changes necessary; no code change; no code changes; ^ no change $;
         ^ no changes $; nothing to do here; nothing to change here; resolving .. no op;
         closing .. no op; works/working/work as intended; works/working/work as designed;
         functioning as intended; behaves as intended; behaves as designed; is as designed;
         is as intended; this is expected; that's expected; it's expected; expected behavio*;
         leaving .. unchanged; stays unchanged; no fix required; no fix needed; no edit needed;
         no edits needed; ^ no op $; ^ expected $; ^ expected for",
    ),
    (
        Signal::Credits,
        "for the catch; for catching; for flagging; for flagging this/it; for pointing .. out;
         for pointing; for spotting; for noticing; for finding; for the heads up; for bringing;
         for the find; for the reminder; for reporting; for raising",
    ),
    (
        Signal::Agrees,
        "^ agreed; , agreed $; ^ agree; i agree; we agree; i fully agree; i totally agree;
         i completely agree; fully agree; ^ fully agreed; fair enough; you're right;
         you're absolutely right; you're correct; ^ makes sense $; ^ that makes sense $;
         ^ this makes sense $; ^ makes total sense; point taken $;
         good/great/nice/excellent/solid/fair/awesome/amazing/sharp/keen/super/neat/lovely/fantastic/\
         perfect/beautiful/impressive catch/find/point/spot/eye/eyes/call/one/idea/suggestion/\
         observation/finding/job/work/stuff/shout/thinking/tip/question/insight/feedback/thought;
         valid point; good/great/nice catches/finds/points/spots; nice $; great $; perfect $; awesome;
         love it; love this; i like; well spotted/caught/seen/noticed; right you are; you're .. right;
         you got me; ^ absolutely; ^ definitely; ^ totally; indeed; ^ exactly; ^ true; ^ right $;
         ^ fair $; ^ good $; agreed; agree; in agreement; concur; i see your point; oops; whoops; woops;
         oopsie; my bad; my mistake; my fault; my error; mea culpa; my apologies; sorry about;
         sorry for; i forgot; forgot to; forgot this/that/it/about; i missed; missed this/that/it;
         overlooked; oversight; slipped; snuck; sneaked; crept in; left over; leftover; leftovers;
         left in; copy paste; copy pasted; copy pasta; typo; brain fart; embarrassing; didn't notice;
         didn't realize/realise; silly; d'oh; doh; facepalm; ouch; yikes; damn; good thing; glad you;
         debugging; testing locally; on second thought; second thoughts",
    ),
    (
        Signal::Confirms,
        "valid finding; valid concern; valid observation; valid issue; valid remark; valid suggestion;
         legit concern; legitimate concern; legitimate finding; ^ valid $;
         ^ valid .. finding/concern/point/issue/observation/remark/suggestion/catch; ^ confirmed real;
         finding is valid; concern is valid; ^ correct finding; ^ accurate finding;
         ^ correct observation/catch/point/remark; ^ legit bug/issue/finding/catch; ^ real gap",
    ),
    (
        Signal::Acknowledges,
        "^ acknowledged; , acknowledged $; ^ acknowledging; ^ ack $; ^ ack ,; ^ ack and; ^ noted;
         , noted $; ^ duly noted; duly noted; point noted; i acknowledge; we acknowledge;
         will take note; ^ taking note; we're aware; i'm aware; ^ noted for later;
         ^ noted for the future",
    ),
    (
        Signal::Defers,
        "i'm deferring; we're deferring; i'll defer this; we'll defer this; defer this to; defer it to;
         deferring this; deferring it; punting; postponed to; postponing; tracked in #*; tracked by #*;
         tracked separately; tracking this in; tracking it in; tracking in #*; track this in;
         track it in; track this separately; track separately; filed as; filed #*; filed separately;
         filed .. follow up; filed .. issue; filed .. ticket; filed .. backlog; filed under #*;
         filed follow; filed mental; filing as; filing this; filing follow; filed it as; filed this as;
         opened #*; opened an issue; opened issue; opened a follow; created an issue; created a ticket;
         created #*; raised an issue; logged as; logged in #*; added to the backlog; added to backlog;
         add to the backlog; added to our backlog; on our roadmap; on the roadmap; ^ will .. in phase;
         , will .. in phase; ^ will .. separate*; ^ deferred $;
         ^ deferred to/for/as/per/here/because/since/and/this/it; ^ deferring $;
         ^ deferring this/it/the/that/these; , deferring this/it/the/that/these;
         and deferring this/it/the; and deferred to/for/as; , deferred to/for/as; ^ tracked $;
         ^ tracked as/in/under/by/separately/here/for/via/#*; ^ tracking $;
         ^ tracking this/it/in/as/under/via/separately/here/#*;
         filed a/an issue/ticket/bug/task/row/card/follow/backlog/item/separate/tracking;
         filing a/an issue/ticket/bug/task/row/card/follow/backlog/item/separate/tracking/specific;
         will follow up in/separately; i'll follow up in/separately; we'll follow up in/separately;
         i'll fix/do/address/handle/update/add/change/clean/improve/refactor/implement/tackle/move/\
         take .. separate*;
         we'll fix/do/address/handle/update/add/change/clean/improve/refactor/implement/tackle/move/\
         take .. separate*;
         will open/file a/an issue/ticket/bug/task/row/card/follow/backlog/item/separate/b/tracking/pr;
         i'll open/file a/an issue/ticket/bug/task/row/card/follow/backlog/item/separate/b/tracking/pr;
         we'll open/file a/an issue/ticket/bug/task/row/card/follow/backlog/item/separate/b/tracking/pr;
         will track this/it/in/as/separately; opened a ticket;
         ^ deferring to a/phase/follow/later/another/next/v*; ^ deferring to the next/follow/later;
         queued for;
         ^ will .. next release/sprint/milestone/iteration/version/quarter/slice/phase/pr/cycle;
         , will .. next release/sprint/milestone/iteration/version/quarter/slice/phase/pr/cycle;
         follow up with a pr;
         i'll fix/do/address/handle/update/add/change/clean/improve/refactor/implement/tackle/move/\
         take .. next release/sprint/milestone/iteration/version/quarter/slice/phase/pr/cycle;
         we'll fix/do/address/handle/update/add/change/clean/improve/refactor/implement/tackle/move/\
         take .. next release/sprint/milestone/iteration/version/quarter/slice/phase/pr/cycle",
    ),
    (
        Signal::Later,
        "in a follow up; as a follow up; as follow up; as follow on; as a follow on; in follow up;
         follow up pr; follow up issue; follow up ticket; follow up task; follow up work;
         follow on work; follow on pr; for a follow up; for follow up; to a follow up;
         follow up improvement*; separate pr; separate issue; separate ticket; subsequent pr; future pr;
         future work; future improvement*; future iteration; later pr; another pr; different pr;
         in the next pr; in the next release; in the next iteration; in the next sprint;
         in the next milestone; in next pr; next sprint; backlog item; backlog row; backlog entry;
         backlog ticket; to the backlog; on the backlog; after the release",
    ),
    (
        Signal::DefersRest,
        "remaining .. follow up; remaining .. later; remaining .. separate; remaining .. deferred;
         remaining .. tracked; remaining .. backlog; the rest .. follow up; the rest .. later;
         the rest .. separate; the rest .. deferred; the rest .. tracked; the others .. follow up;
         the others .. deferred",
    ),
    (
        Signal::Disputes,
        "disagree*; don't agree; can't agree; not agree; don't fully agree; don't really agree;
         don't entirely agree; not sure i agree; don't think; doesn't seem right; don't see; i object;
         beg to differ; not convinced; unconvinced; don't buy; false positive*; false alarm;
         false flag; not an issue; not a real issue; not a bug; isn't a bug; isn't an issue;
         isn't a problem; not a problem; not a concern; isn't a concern; not a real problem;
         not a vulnerability; isn't a vulnerability; isn't a real; no such issue; no such problem;
         non issue; nonissue; not a valid; isn't valid; isn't a valid; not valid; invalid finding;
         invalid comment; invalid suggestion; ^ invalid; incorrect; ^ wrong; is wrong; you're wrong;
         that's wrong; it's wrong; this is wrong; bot is wrong; reviewer is wrong; plain wrong;
         simply wrong; just wrong; wrong here; are wrong; wrong about; got this wrong; got it wrong;
         flat out wrong; inaccurate; isn't accurate; not accurate; isn't correct; not correct;
         isn't right; not right; isn't true; not true; untrue; isn't the case; not the case;
         isn't how; not how; mistaken; misread*; misunderst*; misinterpret*; misleading; hallucinat*;
         bogus; nonsense; rubbish; garbage; ridiculous; useless; spurious; noise $; just noise;
         this is noise; makes no sense; doesn't make sense; no sense; doesn't apply; don't apply;
         not apply; not applicable; isn't applicable; not relevant; irrelevant; isn't relevant;
         doesn't hold; no merit; unfounded; contrary to; on the contrary; ^ no , it; ^ no , this;
         ^ no , that; ^ no , the; ^ nope; can't happen; can never happen; never happens; impossible;
         will never; would break; stop flagging; stop suggesting; stop posting; stop commenting;
         already handled; already covered; already checked; already guarded; already validated;
         already protected; already safe; handled already; covered already; is legitimate;
         are legitimate; is perfectly; is fine as; this is fine; that's fine; is correct; are correct;
         it's correct; code is right; is safe; are safe; it's safe; is required here;
         is necessary here; factually; push back; pushing back; against this; reject the premise;
         reject this premise; overreach; and wrong; , wrong; premise; i doubt; doubtful;
         needs evidence; failing case; failing test; as invalid; conflates; conflating; confuses;
         confusing; confused",
    ),
    (
        Signal::Argues,
        "verified; confirmed; correctly; properly; accurately; already; actually; in fact; exists;
         does exist; is present; are present; is included; exit* 0; is complete; are complete;
         is consistent; are consistent; is valid; are valid; faithful; stale; outdated; unreachable;
         guaranteed; guarantees; handled by; covered by; covered in; handled in; handles this;
         no mismatch; no issue; no issues; no problem; no bug; no violation*; no .. violation*;
         no error*; no evidence; no need; no risk; no impact; unaffected; unnecessary; not needed;
         not necessary; isn't needed; isn't necessary; not required; isn't required; safe because;
         works fine; works as expected; working fine; works correctly; as expected; by the book;
         per the docs; per the spec; documentation says; docs say; spec says; appears to have missed;
         missed it; missed that; missed the; the actual; that said; tests pass; test passes;
         handles that case; handles this case; moot; by convention; checked; the finding;
         the reviewer; reviewer's; the claim; assumes; assumption; you cite; cited line;
         you're looking at; old diff; old code",
    ),
    (
        Signal::Denies,
        "isn't; aren't; wasn't; weren't; doesn't; didn't; don't; can't; couldn't; wouldn't; shouldn't;
         hasn't; haven't; never; not; nothing; neither; nor; none",
    ),
    (
        Signal::Contrasts,
        "but; however; though; although; nevertheless; nonetheless; except; yet; still; whereas;
         except that; on the other hand; that being said; while; despite; instead",
    ),
    (
        Signal::Negates,
        "not; no; never; isn't; aren't; wasn't; weren't; doesn't; didn't; don't; can't; couldn't;
         wouldn't; shouldn't; hasn't; haven't; won't; hardly; barely; neither; nor; nothing; none;
         without; nobody",
    ),
    (
        Signal::Hedges,
        "maybe; perhaps; might; possibly; probably; not sure; unsure; unclear; i guess; i suppose;
         i assume; assuming; suppose; supposedly; allegedly; could be; may be; seems; wonder*; should;
         could; before; you said; you say; you claim; you claimed; you call; says; said; claims;
         claimed; told; asked; asking; argues; calling; called; saying; instead of; rather than; why;
         how; what; which; who; would you; do you; don't know; no idea; hard to; pretend*; stop;
         would be; tempted; propose; proposing; suggest; suggesting; consider; considering; leaning;
         let's; either; used to; every time; prove; explain",
    ),
    (Signal::Supposes, "if; whether; when; whenever; once; unless; provided; in case"),
    (
        Signal::Conditions,
        "until; till; unless; yet; pending; as long as; provided that; before i; before we;
         without an explanation; without explanation; in case; depending on; otherwise; or else;
         without a; without an; without any; if you; when you; once you; if someone; if anyone; if they;
         depends on how/what/whether/you/your/if",
    ),
    (
        Signal::Predicates,
        "is; isn't; are; aren't; was; wasn't; were; weren't; would; wouldn't; will; won't; means;
         mean; meant; breaks; break; broke; broken; blocks; leaks; causes; caused; makes; made; could;
         couldn't; can; can't; might; may; must; should; shouldn't; has; have; had; does; doesn't;
         did; didn't; leads; risks; hides; shows; showed; guarantees; avoids; gives; keeps; prevents;
         requires; never; forbids; allows; lets; wins; fails; works; needs; hurts; ensures; results;
         leaves; puts; adds; turns; helps; saves; protects; preserves",
    ),
    (
        Signal::Connects,
        "because; since; as; so; and; that; which; where; due; per; but; or; given; to avoid; to keep;
         for",
    ),
    (
        Signal::Wavers,
        "maybe; perhaps; not sure; unsure; unclear; probably; possibly; i guess; i suppose; might;
         i think; i believe; i may; i am wrong; i'm wrong; i thought; i assumed; convinced; hasty;
         feel strongly; not certain; happy either way; either way",
    ),
    (
        Signal::Withholds,
        "leav* .. open $; leav* .. unresolved; keep* .. open $; keep* .. unresolved; keep* open;
         leav* open; left open; not resolving; don't resolve; don't close; not closing; reopen*;
         re opening; re open; needs a decision; need a decision; needs discussion;
         needs more discussion; needs input; needs a maintainer; to be discussed; let's discuss;
         let's talk; want to discuss; tbd; should be changed; should be reverted; needs fixing;
         need to fix; yeah right; yeah , right; sure , whatever; whatever; lol; lmao; haha*;
         thanks for nothing; nice try; as if; for the third time; for the nth time; for the last time;
         how many times; genius; sherlock; 🙄; 🤡; 🤨; 😒; 🤦; 🙃; 😂; 🤣; oh great; oh wow;
         of course it's; so called; are you serious; are you kidding; you must be joking; seriously;
         really $; hmm*; not so fast; hold on; ^ wait; against the bot; bot vendor; vendor of the bot;
         of the bot; captain obvious; ignored $; protest; kidding; refuted; regret; a mistake;
         premature; questionable; change it $; fix it $; please fix; please change; do it anyway;
         according to the bot; of your",
    ),
    (
        Signal::Asks,
        "^ why; ^ how; ^ what; ^ which; ^ where; ^ who; ^ can you; ^ could you; ^ would you;
         ^ will you; ^ do you; ^ did you; ^ does this; ^ does it; ^ do we; ^ should we; ^ should i;
         ^ should this; ^ shall we; ^ shall i; ^ can we; ^ could we; ^ can i; ^ is this; ^ is it;
         ^ is that; ^ is there; ^ are you; ^ are we; ^ are there; ^ isn't this; ^ isn't it;
         can you explain; could you explain; can you elaborate; could you elaborate; can you clarify;
         could you clarify; ^ explain; explain why; ^ elaborate; ^ clarify; i wonder; wondering if;
         wondering whether; wondering why; what do you mean; don't understand; not sure what you mean;
         i'd like to know; do you mean; curious why; curious whether; any idea",
    ),
    (
        Signal::Explains,
        "resolving; resolve this; closing this; closing as; closing; marking; because; intentionally;
         deliberately; purposely; on purpose; according to; pattern; required by; required for;
         needed by; needed for; expects; harmless; redundant; legitimate; so that; therefore; hence;
         the reason; overkill; house style; convention here; convention; policy",
    ),
    (
        Signal::Fills,
        "this pull request; of this change; for this change; this change; this patch; this branch;
         pull request",
    ),
];

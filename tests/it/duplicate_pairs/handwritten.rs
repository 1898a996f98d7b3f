//! Pairs in our own words, written before the measure was tuned.
//!
//! Every second pair (the odd positions) is held out. Weights and thresholds were chosen on the other half,
//! so the recall of the held-out half is the reliable figure.

/// A title and a body.
pub(crate) type Finding = (&'static str, &'static str);

/// A finding of the data set, by its position there, with two other wordings.
pub(crate) struct Paraphrase {
    pub(crate) of: usize,
    pub(crate) first: Finding,
    pub(crate) second: Finding,
}

const fn reworded(of: usize, first: Finding, second: Finding) -> Paraphrase {
    Paraphrase { of, first, second }
}

pub(crate) const PARAPHRASES: &[Paraphrase] = &[
    reworded(
        0,
        (
            "Branch name is misspelled",
            "The branch is spelled `reveiw-changed-files-only`; it should be `review-…`.",
        ),
        (
            "Typo in branch reference",
            "`reveiw-changed-files-only` does not exist, you mean `review-changed-files-only`.",
        ),
    ),
    reworded(
        1,
        (
            "Pin `ai-codereviewer` to a release",
            "The action follows a branch, so a push upstream changes what this workflow runs.",
        ),
        (
            "Action `ai-codereviewer` is not pinned",
            "Use a tag or a commit instead of a branch so that runs of the workflow can be reproduced.",
        ),
    ),
    reworded(
        2,
        (
            "Secrets typed by the user are thrown away",
            "The modal sets `stixmagic_setup_complete` although the Telegram and Zoom credentials are \
             never sent anywhere.",
        ),
        (
            "Onboarding marks setup complete without saving credentials",
            "Telegram/Zoom secrets are neither stored nor submitted before `stixmagic_setup_complete` is \
             written.",
        ),
    ),
    reworded(
        4,
        (
            "Port `8080` is hard-coded in `CMD`",
            "Exec form does not expand variables, so a `PORT` set by the platform is ignored.",
        ),
        (
            "`$PORT` is ignored by the container command",
            "`CMD` is in exec form and always binds to 8080. Switch to shell form to respect the \
             environment.",
        ),
    ),
    reworded(
        5,
        (
            "Raw webhook payloads end up in the logs when `webhook_debug` is on",
            "Payloads hold personal data and tokens; log a redacted version.",
        ),
        (
            "Privacy risk: `webhook_debug` dumps full payload",
            "With the flag enabled every webhook body is logged unredacted, tokens and conversation text \
             included.",
        ),
    ),
    reworded(
        6,
        (
            "`get_line_number` may return something that is not an int",
            "`start_line` is read from JSON and returned as it is, while the annotation promises `int | \
             None`.",
        ),
        (
            "Return type of `get_line_number` is not guaranteed",
            "Nothing checks that `location.get(\"start_line\")` is an integer before it is returned.",
        ),
    ),
    reworded(
        8,
        (
            "Path traversal through `entity_id`",
            "The id from the remote JSON becomes part of a file name; `../` escapes `trusted_roots`.",
        ),
        (
            "Unvalidated `entity_id` allows writing files outside the roots directory",
            "`sync_keys` joins an attacker-controlled id to a path. Reject ids with separators and check \
             the resolved path.",
        ),
    ),
    reworded(
        9,
        (
            "Components are imported twice",
            "`Bot`, `LogIn`, Dialog and Button are each imported two times, which does not compile.",
        ),
        (
            "Duplicated import statements break the build",
            "Remove the second import of `Bot`/`LogIn`, Dialog and Button.",
        ),
    ),
    reworded(
        11,
        ("Drop the empty `className`", "`className=\"\"` does nothing."),
        ("Unneeded empty `className` attribute", "It has no effect and can go."),
    ),
    reworded(
        12,
        (
            "Popover cannot be closed from the keyboard",
            "The `<details>` popover does not react to Escape, which keyboard users expect.",
        ),
        (
            "Keyboard access of the `<details>` popover",
            "Close it on Escape and when focus leaves, so that people without a mouse can use it.",
        ),
    ),
    reworded(
        13,
        (
            "Sign In dialog is copied three times",
            "Header, hero and Spark card hold the same block of markup. Make it one component.",
        ),
        (
            "Extract the repeated Sign In dialog",
            "The same dialog markup stands in the header nav, the hero and the Spark card.",
        ),
    ),
    reworded(
        16,
        (
            "Unstub globals in `afterEach`",
            "When an assertion fails, `vi.unstubAllGlobals()` is skipped and the stub leaks into the next \
             test.",
        ),
        (
            "Global stub leaks when the test fails",
            "`vi.unstubAllGlobals()` only runs on success; put it into `afterEach`.",
        ),
    ),
    reworded(
        18,
        (
            "Fragile assertion in overflow test",
            "`findByText(/technologies/i)` can match any other text with that word. Assert on a hidden \
             technology such as Vite.",
        ),
        (
            "`findByText(/technologies/i)` is too loose",
            "The overflow test would also pass on another heading; look for one specific technology in the \
             expanded panel.",
        ),
    ),
    reworded(
        19,
        (
            "`evaluate_store_state` has side effects its name hides",
            "It syncs keys and extracts assets although it reads like a query. Split query and sync.",
        ),
        (
            "Misleading name: `evaluate_store_state` mutates trust data",
            "Callers expect a read, yet keys are synced and themes extracted on their thread.",
        ),
    ),
    reworded(
        20,
        (
            "SIGPIPE kills the audit script",
            "Under `set -o pipefail`, `head -10` closes the pipe early and the script exits with 141.",
        ),
        (
            "`head -10` with `pipefail` aborts the lost-files audit",
            "More than ten rows make jq receive SIGPIPE, exit code 141, and later classes are never checked.",
        ),
    ),
    reworded(
        21,
        (
            "Test depends on a gitignored file",
            "`references/upstreams/efcore/…` is not in a clean checkout, so the test fails there.",
        ),
        (
            "Fixture path under `references/upstreams` is not committed",
            "The tree is ignored by git; on CI the file is missing and the expectation does not hold. Use \
             a tracked fixture.",
        ),
    ),
    reworded(
        22,
        (
            "Skill links to a document that does not exist",
            "`docs/research/claude-code-env-mapping-2026-05-05.md` was saved under another name.",
        ),
        (
            "Wrong path to the env-mapping doc in the skill",
            "The saved document is called `2026-05-05-claude-code-env-mapping-…`; update the pointer.",
        ),
    ),
    reworded(
        23,
        (
            "Home screenshot baseline is out of date",
            "`home-full-chromium-win32.png` still shows \"Delete any meeting\" instead of \"Archive any \
             meeting\".",
        ),
        (
            "Regenerate the home visual snapshot",
            "The baseline image was not updated after the copy changed from Delete to Archive.",
        ),
    ),
    reworded(
        25,
        (
            "Share links leak to PostHog",
            "Pageviews send the full URL, and share URLs are bearer credentials. Redact these routes.",
        ),
        (
            "Pageview capture exposes bearer share URLs",
            "`/share/meeting/…` is sent to a third party with every pageview; sanitise the URL first.",
        ),
    ),
    reworded(
        26,
        (
            "PostHog variables are not passed to the frontend build",
            "`VITE_POSTHOG_KEY` and `VITE_POSTHOG_HOST` are missing in both deploy workflows, so analytics \
             stays off.",
        ),
        (
            "Deploy workflows never set `VITE_POSTHOG_KEY`",
            "Neither the sandbox nor the production job exports the analytics variables to `yarn build:web`.",
        ),
    ),
    reworded(
        27,
        (
            "Privacy page promises deletion that is not implemented",
            "There is no way in the portal to delete meeting history, neither in DynamoDB nor in S3.",
        ),
        (
            "Self-service deletion is advertised but unsupported",
            "No router or storage call deletes a meeting's history. Remove the sentence or add the feature.",
        ),
    ),
    reworded(
        28,
        (
            "Autocapture records meeting notes",
            "posthog-js turns autocapture on by default and sends the text of clicked elements. Set \
             `autocapture: false`.",
        ),
        (
            "Turn off PostHog autocapture for signed-in users",
            "Clicks on transcripts would send DOM text to PostHog because `autocapture` keeps its default.",
        ),
    ),
    reworded(
        29,
        ("Simplify the numeric regex check", "Bash can test this itself: `[ \"$size\" -eq \"$size\" ]`."),
        (
            "Numeric check via regex is harder to read than needed",
            "Consider bash's arithmetic comparison of `$size` instead of the pattern.",
        ),
    ),
    reworded(
        31,
        (
            "`crypto.randomUUID` detection is too complex",
            "Optional chaining, `crypto.randomUUID?.()`, does the same in one line.",
        ),
        (
            "Simplify runtime check of `crypto.randomUUID`",
            "All modern browsers have it and there is a fallback, so `?.()` is enough.",
        ),
    ),
    reworded(
        32,
        (
            "README contradicts itself on exit code 0",
            "One section says 0 means clean, the new one says warnings also return 0.",
        ),
        (
            "Exit-code documentation is ambiguous",
            "Warning-only runs now exit with 0, but the text above still claims that 0 is \"clean\".",
        ),
    ),
    reworded(
        34,
        (
            "Fallback `current_data or self.results` mixes types",
            "`self.results` is a list, the regression tracker wants a dict.",
        ),
        (
            "Wrong type may reach the regression tracker",
            "When `current_data` is None, the list `self.results` is handed over where a dict is expected.",
        ),
    ),
    reworded(
        35,
        (
            "No test covers the warning-only exit",
            "The tests call `checkFile()`; `main()` and its return code are not exercised.",
        ),
        (
            "Add a test for `main()` with warnings only",
            "A wrong exit code would go unnoticed because only `checkFile()` is tested.",
        ),
    ),
    reworded(
        38,
        (
            "Custom hostname has no SSL binding",
            "The script creates the managed certificate but does not bind it, so HTTPS keeps failing.",
        ),
        (
            "Managed certificate is requested but never bound",
            "App Service needs an explicit `ssl bind` for the hostname after the certificate was created.",
        ),
    ),
    reworded(
        40,
        (
            "Admin secret is shipped to the browser",
            "`admin-secret-key-98765` is part of the client bundle, anybody can send `X-Admin-Key`.",
        ),
        (
            "Hardcoded admin key in client code",
            "The key can be read from the bundle and used against `/api/admin/users`. Check the role on \
             the server.",
        ),
    ),
    reworded(
        41,
        (
            "SQL injection via `sortBy` and `order`",
            "Both parameters are pasted into the ORDER BY clause. Use an allowlist.",
        ),
        (
            "Unsanitised sort parameters in ORDER BY",
            "`sortBy`/`order` come from the query string and are concatenated into SQL.",
        ),
    ),
    reworded(
        42,
        (
            "Search keyword is injected into raw SQL",
            "A quote in `q` changes the query. Bind it with `$queryRaw` parameters.",
        ),
        (
            "SQL injection in keyword search",
            "`q` is interpolated in an unsafe raw query; use Prisma's parameterised `$queryRaw`.",
        ),
    ),
    reworded(
        43,
        (
            "Request logger writes credentials to the log",
            "Headers, cookies and the body are logged in full. Log allowlisted fields only.",
        ),
        (
            "Sensitive data in request logs",
            "The logger middleware records URL, headers and body, so tokens and session cookies are stored \
             in clear text.",
        ),
    ),
    reworded(
        44,
        (
            "Stored XSS in the Markdown renderer",
            "Output of `marked.parse` goes to `dangerouslySetInnerHTML` unsanitised.",
        ),
        (
            "Sanitize HTML before `dangerouslySetInnerHTML`",
            "`marked` keeps raw HTML, so a post with a script tag runs in the reader's browser. Use \
             DOMPurify.",
        ),
    ),
    reworded(
        45,
        (
            "Posts can be edited by any logged-in user",
            "`postsRouter` only uses `requireAuth`; the owner of the post is not checked.",
        ),
        (
            "Missing ownership check on post update and delete",
            "With `requireAuth` alone, every authenticated user may change other people's posts.",
        ),
    ),
    reworded(
        47,
        (
            "Changing `target` after mount has no effect",
            "The camera reads the `target` prop once; later changes are not applied.",
        ),
        (
            "`target` prop is only honoured on first render",
            "Updates of the target are ignored since the effect does not depend on it.",
        ),
    ),
    reworded(
        48,
        (
            "jq call lost its line continuations",
            "Without the trailing backslashes bash runs every line as its own command and `set -e` aborts.",
        ),
        (
            "Broken multi-line `jq` command",
            "The backslashes at the line ends were removed, so the filter is executed as a separate command.",
        ),
    ),
    reworded(
        50,
        (
            "Dry run still creates a backup",
            "`cp` to the backup file runs before the `--dry-run` flag is looked at.",
        ),
        (
            "Backup is written even in dry-run mode",
            "The dry-run flag should suppress every write, the backup copy included.",
        ),
    ),
    reworded(
        53,
        (
            "Crash for preset `custom` without angles",
            "The helper dereferences the angles although they are undefined for that preset.",
        ),
        (
            "'custom' preset without angles throws",
            "Looking up the preset gives undefined and reading its angles fails. Validate the arguments.",
        ),
    ),
    reworded(
        54,
        (
            "Roll is lost while following a target",
            "During follow updates `lookAt` resets the rotation and the camera roll is not applied again.",
        ),
        (
            "Camera roll ignored in follow mode",
            "After `lookAt` in the frame loop the roll has to be re-applied.",
        ),
    ),
    reworded(
        56,
        (
            "WAL mode is not turned on",
            "The description promises WAL, but `PRAGMA journal_mode=WAL` is never executed.",
        ),
        (
            "Missing `PRAGMA journal_mode=WAL`",
            "`getDb` opens the database with the default rollback journal although the pull request says \
             WAL is used.",
        ),
    ),
    reworded(
        57,
        ("`isEqual(null, undefined)` is false", "An absent description then looks like a remote change."),
        (
            "`isEqual` does not treat null and undefined alike",
            "Strict comparison reports a remote change where a field is merely missing.",
        ),
    ),
    reworded(
        58,
        (
            "Foreign keys are off in tests",
            "The tests build their own client instead of using `getDb()`, so the PRAGMA is not executed.",
        ),
        (
            "Tests do not go through `getDb()`",
            "`createClient` is called directly, hence `foreign_keys` stays disabled and cascades are not \
             tested.",
        ),
    ),
    reworded(
        59,
        (
            "Migration and its record are not in one transaction",
            "A crash after `executeMultiple` leaves an applied migration that is not recorded.",
        ),
        (
            "Non-atomic migrations",
            "SQL is run first and the name stored later; wrap both into a transaction so a crash cannot \
             separate them.",
        ),
    ),
    reworded(
        60,
        (
            "Column ids collide between boards",
            "`columns.id` is the primary key and holds `todo` or `backlog`, so a second board cannot have \
             that column.",
        ),
        (
            "Primary key of `columns` must include the board",
            "With `id` alone as PRIMARY KEY only one board can own a `todo` column.",
        ),
    ),
    reworded(
        61,
        (
            "`_focusedIndex` が二重に定義されています",
            "同じプロパティが二回宣言されているためコンパイルできません。片方を削除してください。",
        ),
        (
            "`_focusedIndex` の重複定義",
            "プロパティの定義が重複しており、コンパイルエラーになります。重複した方を削除してください。",
        ),
    ),
    reworded(
        62,
        (
            "Componente `Settings` grande demais",
            "São mais de 700 linhas; divida em `NotificationSettings` e `IntegrationSettings`.",
        ),
        (
            "Dividir o componente `Settings` em partes menores",
            "Com mais de 700 linhas a manutenção fica difícil.",
        ),
    ),
    reworded(
        65,
        (
            "`generateId` のIDが衝突する可能性",
            "ミリ秒のタイムスタンプだけに依存しているので、短時間に複数回呼ぶと同じIDになります。",
        ),
        (
            "短時間の呼び出しで `generateId` が重複IDを返す",
            "タイムスタンプ依存の実装をやめ、単調増加のIDにしてください。",
        ),
    ),
    reworded(
        64,
        (
            "`getUser` always returns `users[0]`",
            "Whoever logs in, the first stored user is used for every operation.",
        ),
        (
            "get user is hardcoded to the first user",
            "Session handling is broken: after a login as somebody else `users[0]` is still returned.",
        ),
    ),
    reworded(
        66,
        (
            "Unhandled exception from `s3_service.object_exists`",
            "If S3 is down the request ends in a 500. Wrap the call in try/except.",
        ),
        (
            "Missing error handling around `object_exists`",
            "A network problem with S3 raises and is answered with an Internal Server Error.",
        ),
    ),
    reworded(
        67,
        (
            "Login without password check",
            "`loginOrRegister` lets anybody in as an existing user by name only.",
        ),
        (
            "`loginOrRegister` skips password verification",
            "Knowing a username is enough to authenticate, for admin as well.",
        ),
    ),
    reworded(
        69,
        (
            "`enabled` is not a valid argument of the `iap` block",
            "Terraform will reject it: the block itself turns IAP on.",
        ),
        (
            "Invalid attribute `enabled` in `iap`",
            "`google_compute_backend_service` has no such attribute, plan fails. Remove the line.",
        ),
    ),
    reworded(
        78,
        (
            "Test breaks when `GPU2USE` is exported",
            "`prepare_env` copies the host environment, so the negative assertion depends on the machine.",
        ),
        (
            "Environment of the host leaks into the `GPU2USE` test",
            "Delete `GPU2USE` with monkeypatch first, or the assertion that it is absent fails on such \
             hosts.",
        ),
    ),
    reworded(
        79,
        (
            "jq filter deletes unrelated hooks",
            "A whole SessionStart entry is removed when one of its hooks mentions `auto_register_agent.sh`.",
        ),
        (
            "Removing the entire SessionStart entry loses other user hooks",
            "Filter inside `hooks[]` so that only the `auto_register_agent.sh` hook goes.",
        ),
    ),
    reworded(
        82,
        ("Config file is read on every call of `class_int2str`", "Use the config that is already stored."),
        (
            "`class_int2str` re-reads the config each time",
            "Keep the parsed config file on the reader and reuse it here.",
        ),
    ),
    reworded(
        88,
        (
            "Images are not refreshed when the PDF changes",
            "Existing files are kept as they are. Compare a hash of the source first.",
        ),
        (
            "Stale page images after a PDF update",
            "Since images are only written if missing, a changed PDF keeps its old pictures.",
        ),
    ),
    reworded(
        91,
        (
            "PDF rendering logic is duplicated",
            "Both public functions open, render and save pages. Move that to a private helper.",
        ),
        (
            "Share one helper for PDF page rendering",
            "The two APIs contain the same render-and-save loop; extract it.",
        ),
    ),
];

/// Two different findings with similar texts: the same kind of problem at another name, or another problem of
/// the same name.
pub(crate) const LOOKALIKES: &[(Finding, Finding)] = &[
    (("Missing error handling in readConfig", ""), ("Missing error handling in writeConfig", "")),
    (("Missing null check in foo", ""), ("Missing null check in bar", "")),
    (("Finding 17", ""), ("Finding 18", "")),
    (("problem a", ""), ("problem b", "")),
    (("t1", ""), ("t2", "")),
    (("issue in f123", ""), ("issue in f124", "")),
    (
        ("Unused import `HashMap`", "The import is never used. Remove it."),
        ("Unused import `BTreeSet`", "The import is never used. Remove it."),
    ),
    (
        ("Unused variable `cameraRef`", "The variable is assigned but never read."),
        ("Unused variable `targetRef`", "The variable is assigned but never read."),
    ),
    (
        ("SQL injection via `sortBy`", "The parameter is concatenated into the statement. Use an allowlist."),
        ("SQL injection via `keyword`", "The parameter is concatenated into the statement. Bind it instead."),
    ),
    (
        ("`startDate` is not validated", "A malformed date reaches the database."),
        ("`endDate` is not validated", "A malformed date reaches the database."),
    ),
    (
        (
            "Possible division by zero in `average`",
            "`average` divides by the length of the list, which can be 0.",
        ),
        ("Possible division by zero in `ratio`", "`ratio` divides by the total, which can be 0."),
    ),
    (
        ("Missing test for the retry path", "No test makes the first request fail."),
        ("Missing test for the timeout path", "No test lets the request run into its deadline."),
    ),
    (
        ("`parse_header` panics on empty input", "Indexing the first byte of an empty slice panics."),
        ("`parse_header` ignores the checksum", "The checksum field is read but not compared."),
    ),
    (
        ("Docstring of `load` is outdated", "It still mentions the `path` parameter."),
        ("Docstring of `save` is outdated", "It still mentions the `path` parameter."),
    ),
    (
        ("Hardcoded port 8080", "The port should come from the configuration."),
        ("Hardcoded port 9090", "The port should come from the configuration."),
    ),
    (
        ("Hardcoded timeout of 30 seconds", "Make the timeout configurable."),
        ("Hardcoded retry limit of 30", "Make the number of retries configurable."),
    ),
    (
        ("`user_id` may be null", "The column is nullable, and the code dereferences it."),
        ("`order_id` may be null", "The column is nullable, and the code dereferences it."),
    ),
    (
        ("Race condition in `start()`", "Two tasks can both see `running == false`."),
        ("Race condition in `stop()`", "Two tasks can both see `running == true`."),
    ),
    (
        ("Memory leak in `subscribe`", "The listener is never removed."),
        ("Memory leak in `openStream`", "The stream is never closed."),
    ),
    (
        ("Missing await on `save()`", "The promise is dropped, so failures are lost."),
        ("Missing await on `notify()`", "The promise is dropped, so failures are lost."),
    ),
    (
        ("Typo in variable name `recieve`", "Should be `receive`."),
        ("Typo in variable name `seperator`", "Should be `separator`."),
    ),
    (("Magic number 42", "Give the constant a name."), ("Magic number 1000", "Give the constant a name.")),
    (
        ("Workflow `build.yml` has no permissions block", "Limit the permissions of the token."),
        ("Workflow `release.yml` has no permissions block", "Limit the permissions of the token."),
    ),
    (
        ("Step 3 of the guide is wrong", "The command in step 3 does not exist."),
        ("Step 4 of the guide is wrong", "The flag in step 4 does not exist."),
    ),
    (
        ("Password is logged in `login`", "Remove the password from the log line."),
        ("Password is compared in variable time in `login`", "Use a constant-time comparison."),
    ),
    (
        ("Token never expires", "Set an expiry on the session token."),
        ("Token is stored in local storage", "Keep the session token in an http-only cookie."),
    ),
    (
        ("Lock is held across an await in `flush`", "Release the mutex before the await point."),
        ("Error of `flush` is ignored", "The result is discarded; propagate the error."),
    ),
    (
        ("Off-by-one in `for i in 0..=len`", "The last iteration reads past the end."),
        ("Loop over `len` allocates a new String each time", "Reuse one buffer for all iterations."),
    ),
    (
        ("`email` field lacks validation", "Check that the email has a valid format before saving the user."),
        ("`phone` field lacks validation", "Check that the phone has a valid format before saving the user."),
    ),
    (
        ("Missing index on `orders.customer_id`", "Queries by customer scan the whole table."),
        ("Missing index on `invoices.customer_id`", "Queries by customer scan the whole table."),
    ),
    (
        ("XSS in comment renderer", "Comment HTML is inserted unsanitised."),
        ("XSS in profile page", "The biography is inserted unsanitised."),
    ),
    (
        ("Uncaught exception in `fetchUser`", "A failed request rejects and nobody handles it."),
        ("Uncaught exception in `fetchOrders`", "A failed request rejects and nobody handles it."),
    ),
    (
        ("`Content-Type` header is not checked", "Reject requests whose header is not JSON."),
        ("`Content-Length` header is not checked", "Reject requests whose header is too large."),
    ),
    (
        ("Deprecated API `substr`", "Replace `substr` with `slice`."),
        ("Deprecated API `escape`", "Replace `escape` with `encodeURIComponent`."),
    ),
    (
        ("Wrong return type of `count`", "It returns a string where a number is documented."),
        ("Wrong return type of `names`", "It returns an iterator where a list is documented."),
    ),
    (
        ("`v1` migration drops a column", "Data in the column is lost."),
        ("`v2` migration drops a column", "Data in the column is lost."),
    ),
    (
        ("Missing translation for `de`", "The key `settings.title` has no German text."),
        ("Missing translation for `fr`", "The key `settings.title` has no French text."),
    ),
    (
        ("Inefficient loop in `render`", "The list is filtered again in every iteration."),
        ("Inefficient query in `load`", "One query per row; use a join."),
    ),
    (
        ("Button has no accessible label", "Add an aria-label to the icon button."),
        ("Image has no alternative text", "Add an alt attribute to the picture."),
    ),
    (
        ("Environment variable `API_KEY` is undocumented", "Mention it in the README."),
        ("Environment variable `API_URL` is undocumented", "Mention it in the README."),
    ),
    (
        ("`createUser` のエラー処理がありません", "例外が発生すると処理が中断します。"),
        ("`deleteUser` のエラー処理がありません", "例外が発生すると処理が中断します。"),
    ),
    (
        ("タイムアウトの設定が不足しています", "外部APIの呼び出しに期限を付けてください。"),
        ("変数名の命名が不統一です", "スネークケースに統一してください。"),
    ),
    (
        ("Falta tratar erro em `carregarDados`", "Se a chamada falhar a tela fica vazia."),
        ("Falta tratar erro em `salvarDados`", "Se a chamada falhar os dados se perdem."),
    ),
    (
        ("Integer overflow in width computation", "`width * 4` overflows for large pictures."),
        ("Integer overflow in height computation", "`height * 4` overflows for large pictures."),
    ),
    (
        ("Missing bounds check on `index`", "Out-of-range values panic."),
        ("Missing bounds check on `offset`", "Out-of-range values panic."),
    ),
    (
        ("The cache is never invalidated", "Stale entries are served after an update."),
        ("The cache key ignores the locale", "Users of another language get the wrong entry."),
    ),
    (
        ("`Config::load` blocks the async runtime", "Use `tokio::fs` to read the file."),
        ("`Config::load` swallows parse errors", "The error is replaced by the default configuration."),
    ),
    (
        ("Temp file is not deleted on failure", "Use a guard that removes it."),
        ("Temp file name is predictable", "Use a random name so that nobody can create it first."),
    ),
    (
        ("Log message at the wrong level", "This is expected, use debug instead of error."),
        ("Log message lacks the request id", "Add the id so the lines can be correlated."),
    ),
    (
        ("Branch `feature/a` should be deleted", "It was merged."),
        ("Branch `feature/b` should be deleted", "It was merged."),
    ),
];

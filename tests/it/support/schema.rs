//! GitHub's schema, for the tests that need it. It lies beside the repository, in `../shared`.

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use std::path::Path;
use std::sync::OnceLock;

pub(crate) fn github() -> &'static Valid<Schema> {
    static SCHEMA: OnceLock<Valid<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/github/schema.graphql");
        let text = std::fs::read_to_string(&path).unwrap();
        // GitHub's own schema declares one field twice. It has no other error.
        let schema = Schema::parse(text, path).unwrap_or_else(|flawed| flawed.partial);
        Valid::assume_valid(schema)
    })
}

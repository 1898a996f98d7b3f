//! People, bots, organizations, teams and apps.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};

use super::object::{GraphqlContext, GraphqlNode, leaf, number_or_null, text_or_null, time, unknown};
use crate::simulator::world::AccountId;

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    id: AccountId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let account = &world[id];
    let path = match account.type_name() {
        "Bot" => format!("/apps/{}", account.login),
        "Team" => format!("/orgs/teams/{}", account.login),
        _ => format!("/{}", account.login),
    };
    match info.field_name() {
        "id" => leaf(GraphqlNode::Account(id).id(&world)),
        "login" | "slug" => leaf(account.login.as_str()),
        "combinedSlug" => leaf(format!("org/{}", account.login)),
        // A team always has a name; a user's name is optional.
        "name" if account.type_name() == "Team" => {
            leaf(account.name.as_deref().unwrap_or(account.login.as_str()))
        }
        "name" => text_or_null(account.name.as_deref()),
        "email" => leaf(""),
        "databaseId" if account.type_name() == "Bot" && !account.has_given_id => number_or_null(None),
        "databaseId" => leaf(account.database_id),
        "avatarUrl" => leaf(format!("{}/avatars/{}", world.base_url, account.database_id)),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "createdAt" | "updatedAt" => time(jiff::Timestamp::UNIX_EPOCH),
        "isViewer" => leaf(id == context.viewer()),
        _ => unknown(),
    }
}

pub(super) fn app<'a>(
    context: &'a GraphqlContext<'a>,
    id: AccountId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let account = &world[id];
    match info.field_name() {
        "id" => leaf(GraphqlNode::App(id).id(&world)),
        "name" => leaf(account.name.as_deref().unwrap_or(account.login.as_str())),
        "slug" => leaf(account.login.as_str()),
        "databaseId" => leaf(account.database_id),
        "url" => leaf(format!("{}/apps/{}", world.base_url, account.login)),
        _ => unknown(),
    }
}

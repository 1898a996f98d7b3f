//! Carries out one action of a scenario.

use crate::simulator::scenario::{
    CheckRunAction, CommentAction, EditAction, MinimiseAction, PushAction, ReplyAction, ReviewAction,
    ScenarioAction, ThreadEntry,
};
use crate::simulator::world::{
    AccountId, NewCheck, NewReview, NewSimulatedThread, Subject, ThreadId, TreeEdit, World, WorldRefusal,
};

use super::{NamedComment, Script, StepContext};

impl Script {
    pub(super) fn perform(
        &mut self,
        world: &mut World,
        place: StepContext,
        action: &ScenarioAction,
    ) -> Result<(), String> {
        let by = match action.by() {
            Some(login) => account(world, login)?,
            None => AccountId(0),
        };
        let StepContext { pull, .. } = place;
        match action {
            ScenarioAction::Push(push) => self.push(world, place, by, push, false),
            ScenarioAction::ForcePush(push) => self.push(world, place, by, push, true),
            ScenarioAction::Review(review) => self.review(world, place, by, review),
            ScenarioAction::Comment(comment) => self.comment(world, place, by, comment),
            ScenarioAction::Reply(reply) => self.reply(world, place, by, reply),
            ScenarioAction::Edit(edit) => self.edit(world, place, by, edit),
            ScenarioAction::Minimise(hide) => self.minimise(world, place, hide),
            ScenarioAction::Resolve(on) => {
                let threads = self.find_threads(world, place, by, &on.thread)?;
                threads.into_iter().try_for_each(|thread| world.resolve(thread, by)).map_err(refusal_text)
            }
            ScenarioAction::Unresolve(on) => {
                let threads = self.find_threads(world, place, by, &on.thread)?;
                threads.into_iter().try_for_each(|thread| world.unresolve(thread, by)).map_err(refusal_text)
            }
            ScenarioAction::CheckRun(check) => {
                run_check(world, place, by, check);
                Ok(())
            }
            ScenarioAction::Label(label) => {
                let id = world.ensure_label(world[pull].repository, &label.name);
                world.add_label(Subject::Pull(pull), by, id);
                Ok(())
            }
            ScenarioAction::Unlabel(label) => {
                let id = world.ensure_label(world[pull].repository, &label.name);
                world.remove_label(Subject::Pull(pull), by, id);
                Ok(())
            }
            ScenarioAction::React(reaction) => {
                world.react_to_pull(pull, by, &reaction.content);
                Ok(())
            }
            ScenarioAction::Unreact(reaction) => {
                world.unreact_to_pull(pull, by, &reaction.content);
                Ok(())
            }
            ScenarioAction::RequestReview(request) => {
                let of = account(world, &request.of)?;
                world.request_review(pull, by, of);
                Ok(())
            }
            ScenarioAction::UnrequestReview(request) => {
                let of = account(world, &request.of)?;
                world.unrequest_review(pull, by, of);
                Ok(())
            }
            ScenarioAction::Ready(_) => {
                world.set_draft(pull, by, false);
                Ok(())
            }
            ScenarioAction::Draft(_) => {
                world.set_draft(pull, by, true);
                Ok(())
            }
            ScenarioAction::Close(_) => world.close(pull, by).map_err(refusal_text),
            ScenarioAction::Reopen(_) => world.reopen(pull, by).map_err(refusal_text),
            ScenarioAction::Merge(_) => world.merge(pull, by).map(|_| ()).map_err(refusal_text),
            ScenarioAction::Rename(rename) => {
                let (owner, name) = rename.to.split_once('/').ok_or("a rename needs `owner/name`")?;
                let owner = account(world, owner)?;
                world.rename(world[pull].repository, owner, name);
                Ok(())
            }
            ScenarioAction::DeleteAccount(delete) => {
                let gone = account(world, &delete.login)?;
                world[gone].deleted = true;
                Ok(())
            }
        }
    }

    #[expect(clippy::unused_self, reason = "a method like the other actions, which need the script")]
    fn push(
        &mut self,
        world: &mut World,
        place: StepContext,
        by: AccountId,
        push: &PushAction,
        force: bool,
    ) -> Result<(), String> {
        let fill = |text: &str| filled(world, place, text);
        let edit = TreeEdit {
            write: push.files.iter().map(|(path, text)| (path.clone(), fill(text))).collect(),
            replace: push
                .replace
                .iter()
                .map(|change| (change.path.clone(), fill(&change.find), fill(&change.with)))
                .collect(),
            delete: push.delete.clone(),
            rename: push.rename.clone(),
            sha: push.sha.clone(),
        };
        let message = if push.message.is_empty() { "Update".to_owned() } else { fill(&push.message) };
        world.push(place.pull, by, &message, &edit, force).map(|_| ()).map_err(refusal_text)
    }

    fn review(
        &mut self,
        world: &mut World,
        place: StepContext,
        by: AccountId,
        review: &ReviewAction,
    ) -> Result<(), String> {
        let entries: Vec<(&ThreadEntry, StepContext)> = review
            .threads
            .iter()
            .flat_map(|entry| {
                (1..=entry.repeat).map(move |n| {
                    // `{n}` of a thread that is not repeated is the step's number.
                    let n = if entry.repeat > 1 { n } else { place.n };
                    (entry, StepContext { n, ..place })
                })
            })
            .collect();
        let threads = entries
            .iter()
            .map(|(entry, place)| NewSimulatedThread {
                path: filled(world, *place, &entry.path),
                line: entry.line,
                start_line: entry.start_line,
                side: entry.side,
                body: filled(world, *place, &entry.body),
            })
            .collect();
        let commits = &world[place.pull].commits;
        let previous = commits.len().checked_sub(2).and_then(|index| commits.get(index).cloned());
        let new = NewReview {
            state: review.state,
            body: filled(world, place, &review.body),
            commit: if review.on_previous_head { previous } else { None },
            threads,
            only_in_diff: false,
        };
        let (_, opened) = world.review(place.pull, by, new).map_err(refusal_text)?;
        for (thread, (entry, at)) in opened.into_iter().zip(entries) {
            if let Some(name) = &entry.name {
                self.threads.insert((place.pull, filled(world, at, name)), thread);
            }
        }
        Ok(())
    }

    fn comment(
        &mut self,
        world: &mut World,
        place: StepContext,
        by: AccountId,
        comment: &CommentAction,
    ) -> Result<(), String> {
        for n in 1..=comment.repeat {
            let at = StepContext { n: if comment.repeat > 1 { n } else { place.n }, ..place };
            let body = filled(world, at, &comment.body);
            let id = world.comment(Subject::Pull(place.pull), by, &body).map_err(refusal_text)?;
            if let Some(name) = &comment.name {
                self.comments.insert((place.pull, filled(world, at, name)), NamedComment::Comment(id));
            }
        }
        Ok(())
    }

    fn reply(
        &mut self,
        world: &mut World,
        place: StepContext,
        by: AccountId,
        reply: &ReplyAction,
    ) -> Result<(), String> {
        for thread in self.find_threads(world, place, by, &reply.thread)? {
            for n in 1..=reply.repeat {
                let at = StepContext { n: if reply.repeat > 1 { n } else { place.n }, ..place };
                let body = filled(world, at, &reply.body);
                let id = world.reply(thread, by, &body).map_err(refusal_text)?;
                if let Some(name) = &reply.name {
                    self.comments.insert((place.pull, filled(world, at, name)), NamedComment::Review(id));
                }
            }
        }
        Ok(())
    }

    /// The comments that an `edit` or a `minimise` changes.
    fn find_comments(
        &self,
        world: &World,
        place: StepContext,
        comment: Option<&str>,
        thread: Option<&str>,
    ) -> Result<Vec<NamedComment>, String> {
        if let Some(name) = comment {
            let named = self.comments.get(&(place.pull, filled(world, place, name)));
            return named
                .map(|comment| vec![*comment])
                .ok_or_else(|| format!("there is no comment `{name}` yet"));
        }
        let threads = self.find_threads(world, place, AccountId(0), thread.unwrap_or("it"))?;
        Ok(threads
            .into_iter()
            .filter_map(|id| world[id].comments.first().copied().map(NamedComment::Review))
            .collect())
    }

    fn edit(
        &mut self,
        world: &mut World,
        place: StepContext,
        by: AccountId,
        edit: &EditAction,
    ) -> Result<(), String> {
        for comment in self.find_comments(world, place, edit.comment.as_deref(), edit.thread.as_deref())? {
            let mut body = filled(world, place, &edit.body);
            let before = match comment {
                NamedComment::Comment(id) => &world[id].body,
                NamedComment::Review(id) => &world[id].body,
            };
            if edit.append {
                body = format!("{before}{body}");
            }
            match comment {
                NamedComment::Comment(id) => world.edit_comment(id, by, &body),
                NamedComment::Review(id) => world.edit_review_comment(id, by, &body),
            }
        }
        Ok(())
    }

    fn minimise(
        &mut self,
        world: &mut World,
        place: StepContext,
        hide: &MinimiseAction,
    ) -> Result<(), String> {
        for comment in self.find_comments(world, place, hide.comment.as_deref(), hide.thread.as_deref())? {
            let edits = match comment {
                NamedComment::Comment(id) => &mut world[id].edits,
                NamedComment::Review(id) => &mut world[id].edits,
            };
            edits.minimized = Some(hide.reason.clone());
        }
        Ok(())
    }

    fn find_threads(
        &self,
        world: &World,
        place: StepContext,
        by: AccountId,
        name: &str,
    ) -> Result<Vec<ThreadId>, String> {
        let open = |thread: &ThreadId| world[*thread].resolved_by.is_none();
        let began =
            |thread: &ThreadId| world[*thread].comments.first().is_some_and(|root| world[*root].author == by);
        let all = world[place.pull].threads.iter().copied().filter(open);
        match name {
            "it" => {
                place.thread.map(|thread| vec![thread]).ok_or_else(|| "the event has no thread".to_owned())
            }
            "own" => Ok(all.filter(began).collect()),
            "all" => Ok(all.collect()),
            name => {
                let name = filled(world, place, name);
                let named = self.threads.get(&(place.pull, name.clone())).copied();
                // A thread that a client opened has only its id.
                let by_id =
                    || world[place.pull].threads.iter().copied().find(|id| World::thread_node(*id) == name);
                let found = named.or_else(by_id);
                found.map(|thread| vec![thread]).ok_or_else(|| format!("there is no thread `{name}` yet"))
            }
        }
    }
}

fn run_check(world: &mut World, place: StepContext, by: AccountId, check: &CheckRunAction) {
    let new = NewCheck {
        name: check.name.clone(),
        conclusion: check.conclusion.as_ref().map(|conclusion| conclusion.to_ascii_uppercase()),
        title: check.title.as_ref().map(|text| filled(world, place, text)),
        summary: check.summary.as_ref().map(|text| filled(world, place, text)),
    };
    world.check_run(place.pull, by, new);
}

fn account(world: &World, login: &str) -> Result<AccountId, String> {
    world.account(login).ok_or_else(|| format!("there is no account `{login}`"))
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
fn refusal_text(refusal: WorldRefusal) -> String {
    refusal.to_string()
}

fn filled(world: &World, place: StepContext, text: &str) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let pull = &world[place.pull];
    let short = pull.head.get(..7).unwrap_or_default();
    text.replace("{n}", &place.n.to_string())
        .replace("{head}", &pull.head)
        .replace("{head_short}", short)
        .replace("{number}", &pull.number.to_string())
        .replace("{author}", &world[pull.author].login)
}

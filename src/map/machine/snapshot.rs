//! The end state S' as JSON: stored beside the tables, so that a continued recording can be mapped on from
//! it and a user can see what was still open. Written, never interpreted here.

use super::Machine;
use super::state::{Actor, Context};
use serde_json::{Value, json};

impl Machine {
    /// S' of the thesis, equation 4.6. Names are text; numbers are those of the BTF events.
    pub(in crate::map) fn snapshot(&self) -> Value {
        let tasks: Vec<Value> = self
            .tasks
            .iter()
            .map(|t| {
                let instances: Vec<Value> = t
                    .queue
                    .iter()
                    .map(|i| json!({"instance": i.number, "state": i.state.as_str()}))
                    .collect();
                json!({
                    "task": self.name(t.name),
                    "core": self.name(self.cores[t.core].name),
                    "next_instance": t.next_instance,
                    "activations": t.activations,
                    "os_state": t.os.map(|s| format!("{s:?}").to_lowercase()),
                    "instances": instances,
                    "context": self.context_json(&t.context),
                })
            })
            .collect();
        let cores: Vec<Value> = self
            .cores
            .iter()
            .map(|c| {
                let isrs: Vec<Value> = c
                    .isrs
                    .iter()
                    .map(|f| {
                        json!({
                            "isr": self.name(f.name), "instance": f.number, "state": f.state.as_str(),
                            "category": if f.category1 { 1 } else { 2 }, "context": self.context_json(&f.context),
                        })
                    })
                    .collect();
                json!({
                    "core": self.name(c.name),
                    "running_task": c.running.map(|t| self.name(self.tasks[t].name)),
                    "isr_stack": isrs,
                    "outside": self.context_json(&c.idle),
                })
            })
            .collect();
        let semaphores: Vec<Value> = self
            .sems
            .iter()
            .map(|s| {
                json!({
                    "semaphore": self.name(s.name), "locked": s.locked,
                    "owner": s.owner.map(|o| self.actor_json(o)),
                    "waiters": s.waiters.iter().map(|w| self.actor_json(*w)).collect::<Vec<_>>(),
                })
            })
            .collect();
        let pending: Vec<Value> = self.pending.iter().map(|p| self.actor_json(p.stimulus)).collect();
        let mut next: Vec<(&str, i64)> = self.next.iter().map(|(n, i)| (self.name(*n), *i)).collect();
        next.sort_unstable();
        let next: serde_json::Map<String, Value> =
            next.into_iter().map(|(n, i)| (n.to_owned(), i.into())).collect();
        let variables: Vec<Value> = self
            .model
            .slots
            .known()
            .into_iter()
            .map(|((core, path), value)| {
                json!({"core": core.map(|c| self.name(self.cores[c].name)), "variable": path, "value": value})
            })
            .collect();
        json!({
            "time": self.now, "cores": cores, "tasks": tasks, "semaphores": semaphores,
            "pending_stimuli": pending, "next_instance": next, "variables": variables,
        })
    }

    fn actor_json(&self, actor: Actor) -> Value {
        json!({"entity": self.name(actor.0), "instance": actor.1})
    }

    fn context_json(&self, context: &Context) -> Value {
        json!({
            "open_services": context.services.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            "ending": context.ending,
            "waits_for": context.waits_for.map(|s| self.name(self.sems[s].name)),
            "runnables": context.runnables.iter().map(|r| self.actor_json(*r)).collect::<Vec<_>>(),
        })
    }
}

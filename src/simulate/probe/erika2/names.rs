//! The names and widths of variables and functions of ERIKA Enterprise v2, as a trace shows them. Not
//! their values.

use crate::simulate::kernel::Handlers;
use crate::simulate::kernel::access::{Function, Variable};
use crate::simulate::model::Model;
use crate::simulate::probe::service_name;
use std::io::{Result, Write};

/// Writes the name of a variable; returns its width in hexadecimal digits.
pub fn variable(out: &mut impl Write, variable: Variable, model: &Model) -> Result<usize> {
    use Variable as V;
    macro_rules! name {
        ($digits:literal, $($text:tt)+) => {{
            write!(out, $($text)+)?;
            Ok($digits)
        }};
    }
    match variable {
        V::ServiceTrace => name!(2, "EE_ORTI_servicetrace"),
        V::LastError => name!(2, "EE_ORTI_lasterror"),
        V::RunningIsr2 => name!(8, "EE_ORTI_runningisr2"),
        V::ApplicationMode => name!(8, "EE_ApplicationMode"),
        V::Started => name!(8, "EE_oo_started"),
        V::Ceiling => name!(8, "EE_sys_ceiling"),
        V::FirstTask => name!(8, "EE_stkfirst"),
        V::NestingLevel => name!(8, "EE_IRQ_nesting_level"),
        V::InterruptsDisabled => name!(8, "EE_oo_IRQ_disable_count"),
        V::Isr2Index => name!(8, "EE_isr2_index"),
        V::Status(task) => name!(8, "EE_th_status[{task}]"),
        V::Remaining(task) => name!(8, "EE_th_rnact[{task}]"),
        V::RemainingMax(task) => name!(8, "EE_th_rnact_max[{task}]"),
        V::Priority(task) => name!(8, "EE_ORTI_th_priority[{task}]"),
        V::EventActive(task) => name!(8, "EE_th_event_active[{task}]"),
        V::EventWaitMask(task) => name!(8, "EE_th_event_waitmask[{task}]"),
        V::WasWaiting(task) => name!(8, "EE_th_waswaiting[{task}]"),
        V::NextTask(task) => name!(8, "EE_th_next[{task}]"),
        V::ChainedTask(task) => name!(8, "EE_th_terminate_nextask[{task}]"),
        V::LastResource(task) => name!(8, "EE_th_resource_last[{task}]"),
        V::Rank(task) => name!(8, "EE_rq_link[{task}]"),
        V::ReadyRanks => name!(8, "EE_rq_bitmask"),
        V::ReadyHead(rank) => name!(8, "EE_rq_queues_head[{rank}]"),
        V::ReadyTail(rank) => name!(8, "EE_rq_queues_tail[{rank}]"),
        V::ReadyFree => name!(8, "EE_rq_free"),
        V::PairTask(pair) => name!(8, "EE_rq_pairs_tid[{pair}]"),
        V::PairNext(pair) => name!(8, "EE_rq_pairs_next[{pair}]"),
        V::AutostartTask(n) => name!(8, "at0[{n}]"),
        V::AutostartAlarm(n) => name!(8, "al0[{n}]"),
        V::CounterUsed(object) => name!(8, "EE_oo_counter_object_RAM[{object}].used"),
        V::CounterCycle(object) => name!(8, "EE_oo_counter_object_RAM[{object}].cntcycle"),
        V::CounterDelta(object) => name!(8, "EE_oo_counter_object_RAM[{object}].delta"),
        V::CounterNext(object) => name!(8, "EE_oo_counter_object_RAM[{object}].next"),
        V::CounterOf(object) => name!(8, "EE_oo_counter_object_ROM[{object}].c"),
        V::CounterKind(object) => name!(8, "EE_oo_counter_object_ROM[{object}].kind"),
        V::CounterSpec(object) => name!(8, "EE_oo_counter_object_ROM[{object}].spec_id"),
        V::CounterFirst => name!(8, "EE_counter_RAM[0].first"),
        V::CounterValue => name!(8, "EE_counter_RAM[0].value"),
        V::AlarmAction(alarm) => name!(8, "EE_alarm_ROM[{alarm}].action_id"),
        V::ActionKind(action) => name!(8, "EE_oo_action_ROM[{action}].action_kind"),
        V::ActionTask(action) => name!(8, "EE_oo_action_ROM[{action}].action_task"),
        V::ActionMask(action) => name!(8, "EE_oo_action_ROM[{action}].action_mask"),
        V::ResourceLocked(resource) => name!(8, "EE_resource_locked[{resource}]"),
        V::ResourceLocker(resource) => name!(8, "EE_ORTI_res_locker[{resource}]"),
        V::ResourceBelow(resource) => name!(8, "EE_resource_stack[{resource}]"),
        V::ResourceOldCeiling(resource) => name!(8, "EE_resource_oldceiling[{resource}]"),
        V::ResourceOldPriority(resource) => name!(8, "EE_ORTI_resource_oldpriority[{resource}]"),
        V::Spinlock(word) => name!(8, "EE_hal_spinlock_status[{word}]"),
        V::SpinlockLockerCore(word) => name!(8, "EE_as_spinlocks_locker_core[{word}]"),
        V::SpinlockLocker(word) => name!(8, "EE_as_spinlocks_locker_task_or_isr2[{word}]"),
        V::SpinlockBelow(word) => name!(8, "EE_as_spinlocks_stack[{word}]"),
        V::LastSpinlock(core) => name!(8, "EE_as_spinlocks_last[{core}]"),
        V::RemoteTaskCore(task) => name!(8, "EE_as_rpc_tasks[{task}].core_id"),
        V::RemoteTaskId(task) => name!(8, "EE_as_rpc_tasks[{task}].param_id"),
        V::RemoteProcedure(core) => name!(2, "EE_as_rpc_RAM[{core}].remote_procedure"),
        V::RemoteParameter(core, n) => name!(8, "EE_as_rpc_RAM[{core}].param{n}.value_param"),
        V::RemoteServer(core) => name!(8, "EE_as_rpc_RAM[{core}].serving_core"),
        V::RemoteError(core) => name!(2, "EE_as_rpc_RAM[{core}].error"),
        V::RemoteServing(core) => name!(2, "EE_as_rpc_serving[{core}]"),
        V::ShutdownAll => name!(8, "EE_as_shutdown_all_cores_flag"),
        V::Signal(signal) => {
            let name = model.signals.get(signal as usize).map_or("", |signal| &signal.name);
            name!(8, "{name}")
        }
    }
}

/// The address at which a handler is, as the variable of the running ISR shows it.
pub fn address(handler: u32) -> u32 {
    0x8000_1000 + 0x20 * handler
}

/// Writes the name of a function.
pub fn function(
    out: &mut impl Write,
    function: Function,
    model: &Model,
    handlers: &Handlers,
    core: usize,
) -> Result<()> {
    match function {
        Function::StartOs => write!(out, "EE_oo_StartOS"),
        Function::Service(service) => write!(out, "EE_oo_{}", service_name(service)),
        Function::Task(task) => {
            write!(out, "Func{}", model.tasks.get(task as usize).map_or("", |task| &task.name))
        }
        Function::Isr(isr) => write!(out, "{}", handlers.name(isr as usize)),
        Function::Runnable(runnable) => {
            write!(out, "{}", model.runnables.get(runnable as usize).map_or("", |runnable| &runnable.name))
        }
        Function::TimerHandler => write!(out, "{}", handlers.name(handlers.timer(core))),
        Function::RemoteHandler => write!(out, "{}", handlers.name(handlers.remote(core))),
        Function::RemoteServe => write!(out, "EE_as_rpc_handler"),
        Function::IncrementHardware => write!(out, "EE_oo_IncrementCounterHardware"),
        Function::Increment => write!(out, "EE_oo_IncrementCounterImplementation"),
        Function::CounterInsert => write!(out, "EE_oo_counter_object_insert"),
        Function::ReadyInsert => write!(out, "EE_rq_insert"),
        Function::ReadyQuery => write!(out, "EE_rq_queryfirst"),
        Function::ReadyExchange => write!(out, "EE_rq2stk_exchange"),
        Function::ThreadStub => write!(out, "EE_oo_thread_stub"),
        Function::ThreadEnd => write!(out, "EE_thread_end_instance"),
        Function::IrqPostStub => write!(out, "EE_IRQ_end_post_stub"),
        Function::IrqEnd => write!(out, "EE_IRQ_end_instance"),
    }
}

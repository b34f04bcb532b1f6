# Runs a script of Grasp with a procedure per command that checks its arguments: the options that the player of 2012 knows, ids
# that are declared before they are used, times that are numbers and do not run backwards. Not the player: it draws nothing.
#
#   tclsh tests/grasp_stub.tcl FILE
#
# Prints what it saw, a line "KIND NUMBER" each, in the order of the kinds; fails at the first thing that is wrong.

array set options {
    Processor {name}
    Task      {name priority kind C D T behavior processor color pattern arrivalColor arrivalStem deadlineColor deadlineStem}
    Job       {name processor color}
    Server    {name priority capacity budget processor color}
    Mutex     {name color pattern processor}
    Semaphore {name}
    Buffer    {name capacity seqNumber}
}
# Event, kinds of the ids behind it, options. A job that arrives is new.
array set events {
    jobArrived              {{NewJob Task} {name processor arrowColor arrowStem kind}}
    jobResumed              {Job {processor force}}
    jobPreempted            {Job {target processor}}
    jobCompleted            {Job {target processor force}}
    jobBlocked              {Job {}}
    taskArrived             {Task {message color stem kind processor}}
    taskArrivedAndIgnored   {Task {message color stem kind processor}}
    message                 {Text {color shape}}
    jobAcquiredMutex        {{Job Mutex} {}}
    jobReleasedMutex        {{Job Mutex} {}}
    jobAcquiredSemaphore    {{Job Semaphore} {state}}
    jobReleasedSemaphore    {{Job Semaphore} {state}}
    jobSuspendedOnSemaphore {{Job Semaphore} {state}}
}
set last -inf

proc count {kind} {
    incr ::seen($kind)
}

proc need {condition message} {
    if {![uplevel 1 [list expr $condition]]} {
        error $message
    }
}

proc known {kind id} {
    need {[info exists ::known($kind,$id)]} "$kind '$id' is not declared"
}

proc check_options {what allowed words} {
    need {[llength $words] % 2 == 0} "$what: an option without value: $words"
    foreach {key value} $words {
        need {[string match -* $key] && [string range $key 1 end] in $allowed} "$what: option '$key'"
        switch -- $key {
            -processor { known Processor $value }
            -target { known Job $value }
            -priority { need {[string is integer -strict $value]} "$what: priority '$value'" }
            -kind { need {$value in {task isr}} "$what: kind '$value'" }
            -name { need {$value ne ""} "$what: no name" }
        }
    }
}

proc declare {kind id words} {
    need {![info exists ::known($kind,$id)]} "$kind '$id' is declared twice"
    if {$kind eq "Job"} {
        known Task [lindex $words 0]
        set words [lrange $words 1 end]
    }
    check_options "$kind $id" $::options($kind) $words
    set ::known($kind,$id) 1
    count new$kind
}

foreach kind [array names options] {
    proc new$kind {id args} "declare $kind \$id \$args"
    # The objects of 2010: \[Task t\] is a command that knows initWith.
    proc $kind {id} "
        proc $kind:\$id {method args} \"initialise $kind \$id \\\$method \\\$args\"
        return $kind:\$id
    "
}

proc initialise {kind id method words} {
    need {$method eq [expr {$kind eq "Job" ? "initWithTask" : "initWith"}]} "$kind: method '$method'"
    declare $kind $id $words
}

proc plot {time event args} {
    need {[regexp {^-?[0-9]+([.][0-9]*[1-9])?$} $time]} "time '$time'"
    need {$time >= $::last} "time $time after $::last"
    set ::last $time
    need {[info exists ::events($event)]} "event '$event'"
    lassign $::events($event) kinds allowed
    foreach kind $kinds {
        need {[llength $args] > 0} "$event: too few words"
        set args [lassign $args id]
        switch -- $kind {
            NewJob { set job $id }
            Text {}
            default { known $kind $id }
        }
    }
    if {[info exists job]} {
        need {![info exists ::known(Job,$job)]} "job '$job' arrives twice"
        set ::known(Job,$job) 1
    }
    check_options $event $allowed $args
    count $event
}

source -encoding utf-8 [lindex $argv 0]
foreach kind [lsort [array names seen]] {
    puts "$kind $seen($kind)"
}

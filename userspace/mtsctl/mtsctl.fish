# SPDX-License-Identifier: GPL-2.0
# fish completion for mtsctl(8)

# The command on the line, and what follows it, a word a line.
function __mtsctl_words
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --engine
                set -e words[1]
            case '--*'
            case '*'
                break
        end
        set -e words[1]
    end
    printf '%s\n' $words
end

# Is it one of these commands? Before the command: none.
function __mtsctl_is
    set -l words (__mtsctl_words)
    contains -- "$words[1]" $argv
end

function __mtsctl_is_none
    set -l words (__mtsctl_words)
    test -z "$words[1]"
end

# Is the word after the command one of these? __mtsctl_at rules '': there is none yet.
function __mtsctl_at
    set -l words (__mtsctl_words)
    test "$words[1]" = "$argv[1]"; and contains -- "$words[2]" $argv[2..-1]
end

# As root only; nothing otherwise.
function __mtsctl_jobs
    mtsctl status --json 2>/dev/null |
        string match -rg '^ *"(?:name|container)": "([A-Za-z0-9._@:+-]*)",?$'
end

# Those that run. An engine that does not answer is left alone.
function __mtsctl_containers
    for engine in podman docker nerdctl
        timeout 2 $engine ps --format '{{.Names}}' 2>/dev/null
    end
end

function __mtsctl_cgroups
    set -l base /sys/fs/cgroup/
    string match -q '/*' -- (commandline -ct); and set base ''
    for dir in $base(commandline -ct)*/
        string replace -- "$base" '' $dir
    end
end

function __mtsctl_processes
    string match -r '\d+$' /proc/*
end

# What `mtsctl run` is to run, as if it stood alone.
function __mtsctl_to_run
    set -l words (__mtsctl_words)
    set -e words[1]
    while string match -q -- '-*' "$words[1]"
        set -l option $words[1]
        set -e words[1]
        switch $option
            case --name --max-pause --max-wait --size --weight
                set -e words[1]
            case --
                break
        end
    end
    # An option of run itself.
    not set -q words[1]; and string match -q -- '-*' (commandline -ct); and return
    complete -C (string join ' ' -- $words (commandline -ct))
end

complete -c mtsctl -f

# As `mtsctl help` lists them.
set -l commands \
    run 'Run a command as a job' \
    add 'Make a job of an existing cgroup, or of a process' \
    remove 'Thaw jobs and forget them; they run on' \
    pin 'Never freeze jobs: they belong to every bin from now on' \
    unpin 'Take jobs back into the rotation' \
    pause 'Never freeze jobs for longer than this from now on' \
    weight 'Give jobs, or a user, time in proportion to this from now on' \
    status 'Show which jobs run or are frozen, why, and what happens next' \
    top 'Show bins and jobs live, and act on them' \
    why 'Say whether and why a process is frozen, and for how long' \
    plan 'Predict the bins, the slices and the pauses' \
    set 'Change the configuration: all values or none' \
    get 'Show the configuration in the form that set takes' \
    config 'Check the configuration files, or load their settings' \
    rules 'Make jobs of the cgroups that the rules of mts.conf(5) name' \
    hooks 'Run programs when turns begin or end, mts stops, or a job waits' \
    log 'Show what happened: turns, stops, and which jobs waited longest' \
    stats 'Show the counters since the module was loaded' \
    monitor 'Write the host\'s load, memory and swap traffic once a second' \
    watch 'Print the module\'s events, one line each, until interrupted' \
    doctor 'Say what keeps the module from loading, or jobs from taking turns' \
    thaw 'Thaw everything now and stop the rotation' \
    help 'Show this, or the help of a command'

for i in (seq 1 2 (count $commands))
    complete -c mtsctl -n '__mtsctl_is_none; or __mtsctl_at help ""' -a $commands[$i] \
        -d $commands[(math $i + 1)]
end
complete -c mtsctl -n __mtsctl_is_none -s V -l version -d 'Show the version'
complete -c mtsctl -n __mtsctl_is_none -l user -d 'Ask the mtsd of this user'
complete -c mtsctl -n __mtsctl_is_none -l engine -x -a 'module userspace user' \
    -d 'What is to answer'
complete -c mtsctl -s h -l help -d 'Show the help'

complete -c mtsctl -n '__mtsctl_is add status why plan get log stats monitor watch doctor' -l json \
    -d 'Print JSON'
complete -c mtsctl -n '__mtsctl_is run add' -l each \
    -d 'Processes that grow become jobs of their own'
complete -c mtsctl -n '__mtsctl_is run add' -a --each=child \
    -d 'Each new child becomes a job of its own'
complete -c mtsctl -n '__mtsctl_is run add' -l pin -d 'Never freeze it'
complete -c mtsctl -n '__mtsctl_is run add' -l weight -x -d 'Time in proportion to this'

complete -c mtsctl -n '__mtsctl_is run' -l max-pause -x -d 'Never freeze it for longer'
complete -c mtsctl -n '__mtsctl_is run' -l name -x -d 'Name of the job'
complete -c mtsctl -n '__mtsctl_is run' -l queue -d 'Hold it until its memory is free'
complete -c mtsctl -n '__mtsctl_is run' -l as-root -d 'With sudo: the command runs as root'
complete -c mtsctl -n '__mtsctl_is run' -l here -d 'Without root: in the cgroup that mtsctl is in'
complete -c mtsctl -n '__mtsctl_is run' -l max-wait -x -d 'Longest time in the queue'
complete -c mtsctl -n '__mtsctl_is run' -l size -x -d 'What it will need'
complete -c mtsctl -n '__mtsctl_is run' -a '(__mtsctl_to_run)'

complete -c mtsctl -n '__mtsctl_is add' -l max-pause -x -a off -d 'Never freeze it for longer'
complete -c mtsctl -n '__mtsctl_is add' -l container -x -a '(__mtsctl_containers)' \
    -d 'The cgroup of a container'
complete -c mtsctl -n '__mtsctl_is add' -l pid -x -a '(__mtsctl_processes)' \
    -d 'The cgroup of a process, or the process alone'
complete -c mtsctl -n '__mtsctl_is add' -l yes -d 'The whole cgroup of the process'
complete -c mtsctl -n '__mtsctl_is add' -a '(__mtsctl_cgroups)'

complete -c mtsctl -n '__mtsctl_is remove pin unpin pause weight' -a '(__mtsctl_jobs)' -d Job
complete -c mtsctl -n '__mtsctl_is weight' -l user -x -a '(__fish_complete_users)' \
    -d 'Of a user, with share=user'
complete -c mtsctl -n '__mtsctl_is pause' -a off -d 'No limit of their own'
complete -c mtsctl -n '__mtsctl_is status' -l all -d 'List the jobs even if there are many'
complete -c mtsctl -n '__mtsctl_is status' -l by -x -d 'Sum jobs up by' \
    -a 'job user unit container'

complete -c mtsctl -n '__mtsctl_is top' -s b -l batch -d 'Print frames as text'
complete -c mtsctl -n '__mtsctl_is top' -s g -l by -x -d 'Sum jobs up by' \
    -a 'job user unit container'
complete -c mtsctl -n '__mtsctl_is top' -s n -l count -x -d 'End after so many frames'
complete -c mtsctl -n '__mtsctl_is top' -s d -l delay -x -d 'Seconds between frames'
complete -c mtsctl -n '__mtsctl_is top' -s o -l order -x -d 'Order of the jobs' \
    -a 'bin id name state user demand resident swapped frozen faults'

complete -c mtsctl -n '__mtsctl_is why' -a '(__mtsctl_processes)' -d Process

complete -c mtsctl -n '__mtsctl_is plan' -l size -x -d 'Plan for jobs of this size'
complete -c mtsctl -n '__mtsctl_is plan' -l cgroup -x -a '(__mtsctl_cgroups)' \
    -d 'Plan for this cgroup as it is now'
complete -c mtsctl -n '__mtsctl_is plan' -l pin-size -x -d 'A pinned job of this size'
complete -c mtsctl -n '__mtsctl_is plan' -l capacity -x -d 'Memory for all jobs together'
complete -c mtsctl -n '__mtsctl_is plan' -l slice -x -d 'Slice of a full bin, at least'
complete -c mtsctl -n '__mtsctl_is plan' -l min-slice -x -d 'Shortest slice'
complete -c mtsctl -n '__mtsctl_is plan' -l max-pause -x -a auto \
    -d 'Longest time that a job may be frozen'
complete -c mtsctl -n '__mtsctl_is plan' -l overhead -x -a off \
    -d 'Slices grow until switches take no more'
complete -c mtsctl -n '__mtsctl_is plan' -l pack -x -a 'ffd bfd rw' -d 'The packer'
complete -c mtsctl -n '__mtsctl_is plan' -l evict -x -a 'off need full auto' \
    -d 'What is evicted'
complete -c mtsctl -n '__mtsctl_is plan' -l switch -x -d 'Duration of a switch'
complete -c mtsctl -n '__mtsctl_is plan' -l swap-speed -x \
    -d 'Bytes that swap moves in a second'
complete -c mtsctl -n '__mtsctl_is plan' -l step -x -a 'bin auto' \
    -d 'Memory that changes hands at a switch'
complete -c mtsctl -n '__mtsctl_is plan' -l processors -x -d 'That each bin should keep busy'
complete -c mtsctl -n '__mtsctl_is plan' -l work -x -d 'Processor time that each job needs'
complete -c mtsctl -n '__mtsctl_is plan' -l queue -d 'As if each were started with run --queue'

complete -c mtsctl -n '__mtsctl_is set' -l save -d 'Keep them for the next boot'
complete -c mtsctl -n '__mtsctl_is set' -a '
    mode={off,auto,always,shadow} policy={turns,none,fair,token,auto} share={job,user} pack={ffd,bfd,rw}
    evict={off,need,full,auto}
    demand={used,allocated} step={bin,auto} bin=auto max_pause=auto overhead=off
    interactive=off queue={off,auto} slice= min_slice='

complete -c mtsctl -n '__mtsctl_at config ""' -a 'check load'
complete -c mtsctl -n '__mtsctl_at config check load' -F
complete -c mtsctl -n '__mtsctl_at rules ""' -a 'check explain apply watch'
complete -c mtsctl -n '__mtsctl_at rules check' -F
complete -c mtsctl -n '__mtsctl_at rules explain apply watch' -l file -r -F \
    -d 'In place of mts.conf'
complete -c mtsctl -n '__mtsctl_at rules explain' -a '(__mtsctl_cgroups)'
complete -c mtsctl -n '__mtsctl_at rules apply' -l dry-run -d 'Say what it would do'

complete -c mtsctl -n '__mtsctl_at hooks ""' -a 'list test watch'
complete -c mtsctl -n '__mtsctl_at hooks list' -l json -d 'Print JSON'
complete -c mtsctl -n '__mtsctl_at hooks test' -a 'begin end stop wait swap-full'
complete -c mtsctl -n '__mtsctl_at hooks test watch' -l file -r -F -d 'In place of mts.conf'
complete -c mtsctl -n '__mtsctl_at hooks watch' -l interval -x -d 'Between looks'
complete -c mtsctl -n '__mtsctl_is log' -l since -x -a '12h today yesterday' \
    -d 'So long ago, or a time'

complete -c mtsctl -n '__mtsctl_is stats' -l prometheus -d 'Print metrics'
complete -c mtsctl -n '__mtsctl_is stats' -l http -d 'Answer an HTTP request with metrics'
complete -c mtsctl -n '__mtsctl_is stats' -l per-job -d 'Metrics of each job, too'
complete -c mtsctl -n '__mtsctl_is monitor' -l interval -x -d 'Between lines'
complete -c mtsctl -n '__mtsctl_is monitor' -l count -x -d 'End after so many lines'

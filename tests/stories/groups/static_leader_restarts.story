# The leader itself comes back. A client that can skip the plan is told all and told to skip; an older one is told that
# somebody else leads, so that it does not plan.
> settings initial_rebalance_delay_ms=1000
> join a instance=A
> join b instance=B
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join a member=-
log stored gen=1 range leader=a-2 b-1:t1 a-2:t0
a: joined a-2 gen=1 range leads: b-1 a-2 skip plan
> sync a
a: synced t0
> join a member=- v5
log stored gen=1 range leader=a-3 b-1:t1 a-3:t0
a: joined a-3 gen=1 range leader=a-2
> sync a
a: synced t0
> heartbeat b
b: alive

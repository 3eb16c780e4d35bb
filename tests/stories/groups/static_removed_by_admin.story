# An administrator removes a static member by its instance id alone.
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
> leave instance=B
admin: left B ok
> leave instance=nobody
admin: left nobody unknown-member
> heartbeat b
b: unknown-member
> join a
a: joined a-1 gen=2 range leads: a-1
> sync a plan=a:t0+t1
log stored gen=2 range leader=a-1 a-1:t0+t1
a: synced t0+t1

# The leader leaves: the next member leads.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> leave a
a: left a-1 ok
> heartbeat b
b: rebalance-in-progress
> join b
b: joined b-1 gen=2 range leads: b-1
> sync b plan=b:t0+t1
log stored gen=2 range leader=b-1 b-1:t0+t1
b: synced t0+t1
> leave b
log stored gen=3 empty
b: left b-1 ok
> describe
admin: Empty -

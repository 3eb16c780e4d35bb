# An id that was handed out holds the joining up, until it is used, given back or forgotten.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> join b session=8000
b: member-id-required (b-1)
> join a topics=t,u
> wait 7000
> wait 1000
a: joined a-1 gen=2 range leads: a-1   (at 8000)
> sync a plan=a:t0
log stored gen=2 range leader=a-1 a-1:t0
a: synced t0
> join c
c: member-id-required (c-1)
> join a topics=t
> leave c
a: joined a-1 gen=3 range leads: a-1
c: left c-1 ok

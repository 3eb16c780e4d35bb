# The leader forgot a member: it gets an empty part.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync b
> sync a plan=a:t0,stranger:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:-
a: synced t0
b: synced -

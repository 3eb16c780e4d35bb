# group.max.size: those who are in may come again, the next one is refused.
> settings initial_rebalance_delay_ms=1000 members_max=2
> join a old
> join b old
> join c old
c: group-full
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join c old
c: group-full
> join a
> join b
a: joined a-1 gen=2 range leads: a-1 b-1
b: joined b-1 gen=2 range leader=a-1
> join c old
c: group-full

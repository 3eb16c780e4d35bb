# A static member that does not rejoin is not thrown out with the rebalance, but it is when it does not fetch its plan.
> settings initial_rebalance_delay_ms=1000
> join a instance=A session=60000
> join b instance=B session=60000
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join a topics=t,u
> wait 30000
a: joined a-1 gen=2 range leads: a-1 b-1   (at 32000)
> sync a plan=a:t0,b:t1
log stored gen=2 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> describe
admin: Stable range a-1:t0 b-1:t1
> wait 30000
> describe
admin: PreparingRebalance - a-1:t0

# Three consumers form a group. The first rebalance of an empty group waits a while for more of them.
> join a
a: member-id-required (a-1)
> join a
> join b
b: member-id-required (b-1)
> wait 2000
> join b
> wait 1000
> join c
c: member-id-required (c-1)
> join c
> wait 6000
a: joined a-1 gen=1 range leads: a-1 b-1 c-1   (at 9000)
b: joined b-1 gen=1 range leader=a-1   (at 9000)
c: joined c-1 gen=1 range leader=a-1   (at 9000)
> sync b
> sync c
> sync a plan=a:t0,b:t1,c:t2
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1 c-1:t2
a: synced t0
b: synced t1
c: synced t2
> heartbeat c
c: alive
> describe
admin: Stable range a-1:t0 b-1:t1 c-1:t2
> list
admin: g Stable consumer

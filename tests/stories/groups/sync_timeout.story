# The plan never comes: the leader is out, and so is everybody who did not ask for the plan.
> settings initial_rebalance_delay_ms=1000
> join a old rebalance=5000 session=60000
> join b old rebalance=5000 session=60000
> join c old rebalance=5000 session=60000
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1 c-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
c: joined c-1 gen=1 range leader=a-1   (at 2000)
> sync b
> wait 5000
b: rebalance-in-progress   (at 7000)
> describe
admin: PreparingRebalance - b-1:-
> join b
b: joined b-1 gen=2 range leads: b-1
> describe
admin: CompletingRebalance - b-1:-

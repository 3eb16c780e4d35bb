# Members keep coming: the delay is extended, but not beyond the rebalance timeout.
> join a old rebalance=8000
> wait 2900
> join b old rebalance=8000
> wait 2900
> join c old rebalance=8000
> wait 2000
> join d old rebalance=8000
> wait 1000
a: joined a-1 gen=1 range leads: a-1 b-1 c-1 d-1   (at 8000)
b: joined b-1 gen=1 range leader=a-1   (at 8000)
c: joined c-1 gen=1 range leader=a-1   (at 8000)
d: joined d-1 gen=1 range leader=a-1   (at 8000)

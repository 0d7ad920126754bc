-- Returned item reporting, added up for each customer first: five of the dearest lines at most.
SELECT n_name, SUM(returned) AS revenue
FROM customer
JOIN nation ON c_nationkey = n_nationkey
JOIN (
    SELECT o_custkey, CLAMP(SUM(l_extendedprice * (1 - l_discount)), 0, 525000) AS returned
    FROM orders, lineitem
    WHERE l_orderkey = o_orderkey
      AND o_orderdate >= DATE '1993-10-01'
      AND o_orderdate < DATE '1994-01-01'
      AND l_returnflag = 'R'
    GROUP BY o_custkey
) AS own ON o_custkey = c_custkey
GROUP BY n_name
ORDER BY revenue DESC

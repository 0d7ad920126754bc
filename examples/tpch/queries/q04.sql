-- Order priority checking: how many orders of a quarter had a line that came too late, by priority.
SELECT o_orderpriority, COUNT(*) AS order_count
FROM (
    SELECT DISTINCT o_custkey, o_orderkey, o_orderpriority
    FROM orders, lineitem
    WHERE l_orderkey = o_orderkey
      AND l_commitdate < l_receiptdate
      AND o_orderdate >= DATE '1993-07-01'
      AND o_orderdate < DATE '1993-10-01'
) AS late_orders
GROUP BY o_orderpriority
ORDER BY o_orderpriority

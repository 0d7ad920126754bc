-- Shipping priority: revenue of orders that were not shipped at a day, by the month of the order.
SELECT DATE_TRUNC('month', o_orderdate) AS o_ordermonth, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING'
  AND c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15'
  AND l_shipdate > DATE '1995-03-15'
GROUP BY o_ordermonth
ORDER BY revenue DESC

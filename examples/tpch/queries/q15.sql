-- Top supplier: who brought the most revenue in a quarter.
SELECT s_name, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
FROM supplier, lineitem
WHERE s_suppkey = l_suppkey
  AND l_shipdate >= DATE '1996-01-01'
  AND l_shipdate < DATE '1996-04-01'
GROUP BY s_name
ORDER BY total_revenue DESC

-- Forecasting revenue change, added up for each customer first: four of the dearest such lines at most, 3,400 each.
SELECT SUM(saved) AS revenue
FROM (
    SELECT o_custkey, CLAMP(SUM(l_extendedprice * l_discount), 0, 14000) AS saved
    FROM orders, lineitem
    WHERE o_orderkey = l_orderkey
      AND l_shipdate >= DATE '1994-01-01'
      AND l_shipdate < DATE '1995-01-01'
      AND l_discount BETWEEN 0.05 AND 0.07
      AND l_quantity < 24
    GROUP BY o_custkey
) AS own

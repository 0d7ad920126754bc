-- Local supplier volume, added up for each customer first: two of the dearest lines at most.
SELECT n_name, SUM(spent) AS revenue
FROM customer
JOIN nation ON c_nationkey = n_nationkey
JOIN region ON n_regionkey = r_regionkey
JOIN (
    SELECT c_custkey AS buyer, CLAMP(SUM(l_extendedprice * (1 - l_discount)), 0, 210000) AS spent
    FROM customer, orders, lineitem, supplier
    WHERE c_custkey = o_custkey
      AND l_orderkey = o_orderkey
      AND l_suppkey = s_suppkey
      AND c_nationkey = s_nationkey
      AND o_orderdate >= DATE '1994-01-01'
      AND o_orderdate < DATE '1995-01-01'
    GROUP BY c_custkey
) AS own ON buyer = c_custkey
WHERE r_name = 'ASIA'
GROUP BY n_name
HAVING n_name IN ('CHINA', 'INDIA', 'INDONESIA', 'JAPAN', 'VIETNAM')
ORDER BY revenue DESC

-- Volume shipping, added up for each customer first, the years side by side: two of the dearest lines at most.
SELECT n_name AS cust_nation, SUM(spent_1995) AS revenue_1995, SUM(spent_1996) AS revenue_1996
FROM customer
JOIN nation ON c_nationkey = n_nationkey
JOIN (
    SELECT
        c_custkey AS buyer,
        CLAMP(SUM(l_extendedprice * (1 - l_discount)) FILTER (WHERE YEAR(l_shipdate) = 1995), 0, 210000) AS spent_1995,
        CLAMP(SUM(l_extendedprice * (1 - l_discount)) FILTER (WHERE YEAR(l_shipdate) = 1996), 0, 210000) AS spent_1996
    FROM customer, orders, lineitem, supplier, nation AS n1, nation AS n2
    WHERE s_suppkey = l_suppkey
      AND o_orderkey = l_orderkey
      AND c_custkey = o_custkey
      AND s_nationkey = n1.n_nationkey
      AND c_nationkey = n2.n_nationkey
      AND (n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY' OR n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')
      AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
    GROUP BY c_custkey
) AS own ON buyer = c_custkey
GROUP BY n_name
HAVING n_name IN ('FRANCE', 'GERMANY')
ORDER BY cust_nation

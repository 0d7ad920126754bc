-- Volume shipping: revenue between France and Germany, by direction and year. CASE leaves two nations to group by.
SELECT
    CASE WHEN n1.n_name = 'FRANCE' THEN 'FRANCE' ELSE 'GERMANY' END AS supp_nation,
    CASE WHEN n2.n_name = 'FRANCE' THEN 'FRANCE' ELSE 'GERMANY' END AS cust_nation,
    EXTRACT(YEAR FROM l_shipdate) AS l_year,
    SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM supplier, lineitem, orders, customer, nation AS n1, nation AS n2
WHERE s_suppkey = l_suppkey
  AND o_orderkey = l_orderkey
  AND c_custkey = o_custkey
  AND s_nationkey = n1.n_nationkey
  AND c_nationkey = n2.n_nationkey
  AND (n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY' OR n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')
  AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
GROUP BY supp_nation, cust_nation, l_year
HAVING l_year IN (1995, 1996)
ORDER BY supp_nation, cust_nation, l_year

-- Global sales opportunity, first question: what customers of seven countries who have any money have on average.
SELECT AVG(c_acctbal) AS mean_acctbal
FROM customer
WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 0

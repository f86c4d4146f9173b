from flagstaff.evaluation.python_loops import apply_rules as apply_rules
from flagstaff.evaluation.python_loops import find_buckets as find_buckets
from flagstaff.evaluation.python_loops import find_variants as find_variants
from flagstaff.evaluation.python_loops import join as join
from flagstaff.evaluation.python_loops import prepare as prepare
from flagstaff.evaluation.python_loops import select_bytes as select_bytes

"""The tables after the newest migration, by subject; a test compares the two."""

from flagstaff.database.tables.applications_tables import *
from flagstaff.database.tables.audit_tables import *
from flagstaff.database.tables.cluster_tables import *
from flagstaff.database.tables.columns import *
from flagstaff.database.tables.comments_tables import *
from flagstaff.database.tables.flags_tables import *
from flagstaff.database.tables.history_tables import *
from flagstaff.database.tables.hooks_tables import *
from flagstaff.database.tables.identity_tables import *
from flagstaff.database.tables.metrics_tables import *
from flagstaff.database.tables.notifications_tables import *
from flagstaff.database.tables.people_tables import *
from flagstaff.database.tables.projects_tables import *
from flagstaff.database.tables.releases_tables import *
from flagstaff.database.tables.views_tables import *

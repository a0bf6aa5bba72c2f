#!/usr/bin/env bash
# Django answers 304 about a feed or sitemap that has lost a job, or got an older one, while its newest job stays.
#
# Version: Django 3.2.25 (Debian 12: python3-django 3:3.2.25-0+deb12u7): syndication, sitemaps, ConditionalGetMiddleware.
#
# Expected: Last-Modified tells when the answer last changed; whoever sends If-Modified-Since with it gets the feed anew after any change.
#
# Behaviour: Both framework views set Last-Modified to the latest date of their items. A removed job, a replaced one and an edited one whose date stays
# leave it as it is, and the middleware answers 304. A request that has the ETag too gets the new feed.
#
# Why it matters: curl -z, wget -N and caches in front of Django ask by date alone, and the views set no ETag without that middleware. A mirror keeps
# filled jobs online, and does not see new ones with an earlier date, until the newest job changes. Set an ETag, or leave out the dates.
#
# Seen:
#   /feed.xml: Nurse, Cook; Last-Modified: Sat, 03 Oct 2026 09:30:00 GMT
#   /feed.xml, Cook replaced by Guard, If-Modified-Since: 304
#   /feed.xml, the same with the ETag: 200
#   /sitemap.xml: Nurse, Cook; Last-Modified: Sat, 03 Oct 2026 09:30:00 GMT
#   /sitemap.xml, Cook replaced by Guard, If-Modified-Since: 304
#   /sitemap.xml, the same with the ETag: 200

source "$(dirname "$0")/support/prepare.sh"
debian python3-django=3:3.2.25-0+deb12u7
cat >program.py <<'PROGRAM'
import datetime
import django
from django.conf import settings
settings.configure(
    SECRET_KEY='x', ROOT_URLCONF=__name__, ALLOWED_HOSTS=['*'], DATABASES={}, INSTALLED_APPS=['django.contrib.sitemaps'], USE_TZ=True,
    MIDDLEWARE=['django.middleware.http.ConditionalGetMiddleware'],
    TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True}])
django.setup()
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import sitemap
from django.contrib.syndication.views import Feed
from django.test import Client
from django.urls import path
day = lambda number: datetime.datetime(2026, 10, number, 9, 30, tzinfo=datetime.timezone.utc)
jobs = []
class Jobs(Feed):
    title, link, description = 'Jobs', '/', 'Jobs'
    items = lambda self: jobs
    item_title = item_description = lambda self, job: job[0]
    item_link = lambda self, job: f'/jobs/{job[0]}'
    item_pubdate = lambda self, job: job[1]
class Addresses(Sitemap):
    items = lambda self: jobs
    location = lambda self, job: f'/jobs/{job[0]}'
    lastmod = lambda self, job: job[1]
urlpatterns = [path('feed.xml', Jobs()), path('sitemap.xml', sitemap, {'sitemaps': {'jobs': Addresses}})]
client = Client()
for address in ('/feed.xml', '/sitemap.xml'):
    jobs[:] = [('Nurse', day(3)), ('Cook', day(2))]
    first = client.get(address)
    print(f"{address}: {', '.join(title for title, _ in jobs if title.encode() in first.content)}; Last-Modified: {first['Last-Modified']}")
    jobs[:] = [('Nurse', day(3)), ('Guard', day(1))]
    since = {'HTTP_IF_MODIFIED_SINCE': first['Last-Modified']}
    print(f'{address}, Cook replaced by Guard, If-Modified-Since:', client.get(address, **since).status_code)
    print(f'{address}, the same with the ETag:', client.get(address, HTTP_IF_NONE_MATCH=first['ETag'], **since).status_code)
PROGRAM
python3.11 -W ignore program.py | expect_seen

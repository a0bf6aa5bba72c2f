#!/usr/bin/env bash
# systemd, Celery, Quartz and APScheduler leave out runs of each half hour when clocks go back.
#
# Version: Debian 12: systemd 252.39-1~deb12u2, Celery 5.2.6 (python3-celery), Quartz 2.3.2 (libquartz2-java), APScheduler 3.9.1
# (python3-apscheduler), and fugit 1.5.2, which rufus-scheduler uses.
#
# Expected: What runs each half hour runs each half hour. By its manual, Debian's cron does so if the hour is *.
#
# Behaviour: In New York, 01:00 to 02:00 is twice on 1 November 2026: from 05:00 and from 06:00 UTC. systemd and Celery run in the first
# of these hours only, Quartz in the second only; APScheduler leaves out the end of the first and the begin of the second. fugit runs each half hour.
#
# Why it matters: Each autumn, a feed is not pulled for an hour and a half, and nothing says so, unless something watches for late pulls. Run such
# schedules in UTC.
#
# Seen:
#   systemd:     04:30 05:00 05:30             07:00 07:30
#   Celery:      04:30 05:00 05:30             07:00 07:30
#   Quartz:      04:30             06:00 06:30 07:00 07:30
#   APScheduler: 04:30 05:00             06:30 07:00 07:30
#   fugit:       04:30 05:00 05:30 06:00 06:30 07:00 07:30

source "$(dirname "$0")/support/prepare.sh"
debian systemd=252.39-1~deb12u2 python3-celery=5.2.6-5 python3-apscheduler=3.9.1-2 python3-tz=2022.7.1-4 ruby-rufus-scheduler=3.8.2-3 \
  libquartz2-java=2.3.2-4 openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1

cat >program.py <<'PROGRAM'
import datetime, pytz
from apscheduler.triggers.cron import CronTrigger
from celery import Celery
from celery.schedules import crontab
zone = pytz.timezone('America/New_York')
start = datetime.datetime(2026, 11, 1, 4, 10, tzinfo=pytz.utc)
app = Celery(set_as_current=False)
app.conf.timezone = 'America/New_York'
now = start.astimezone(zone)
schedule = crontab(minute='*/30', nowfun=lambda: now, app=app)
last = now
for minutes in range(0, 240, 10):
    now = (start + datetime.timedelta(minutes=minutes)).astimezone(zone)
    if schedule.is_due(last).is_due:
        last = now
        print('Celery', now.astimezone(pytz.utc).strftime('%H:%M'))
trigger = CronTrigger.from_crontab('*/30 * * * *', timezone=zone)
previous, now = None, start.astimezone(zone)
for _ in range(7):
    previous = now = trigger.get_next_fire_time(previous, now)
    print('APScheduler', now.astimezone(pytz.utc).strftime('%H:%M'))
PROGRAM
cat >program.rb <<'RUBY'
require 'fugit'
time = EtOrbi.parse('2026-11-01T04:10:00Z')
7.times { puts "fugit #{(time = Fugit::Cron.parse('*/30 * * * * America/New_York').next_time(time)).utc.strftime('%H:%M')}" }
RUBY
cat >Program.java <<'PROGRAM'
import java.time.Instant;
import java.util.Date;
import java.util.TimeZone;
import org.quartz.CronExpression;

public class Program {
  public static void main(String[] arguments) throws Exception {
    CronExpression schedule = new CronExpression("0 0/30 * * * ?");
    schedule.setTimeZone(TimeZone.getTimeZone("America/New_York"));
    Date time = Date.from(Instant.parse("2026-11-01T04:10:00Z"));
    for (int run = 0; run < 7; run++) {
      time = schedule.getNextValidTimeAfter(time);
      System.out.println("Quartz " + time.toInstant().toString().substring(11, 16));
    }
  }
}
PROGRAM
java="$root/usr/lib/jvm/java-17-openjdk-amd64/bin"
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby)"
{
  TZ=America/New_York LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu/systemd:$LD_LIBRARY_PATH" systemd-analyze calendar \
    --base-time='2026-11-01 00:10' --iterations=7 '*:0/30' | sed -nE 's/.*UTC\): .* (..:..):00 UTC/systemd \1/p'
  python3.11 -W ignore program.py
  "$java/javac" -cp "$root/usr/share/java/quartz2.jar" Program.java
  "$java/java" -cp "$root/usr/share/java/quartz2.jar:$work" Program 2>log
  # shellcheck disable=SC2086
  ruby -W0 $libraries program.rb
} >runs
for name in systemd Celery Quartz APScheduler fugit; do
  line="$(printf '%-12s' "$name:")"
  for time in 04:30 05:00 05:30 06:00 06:30 07:00 07:30; do
    grep -qx "$name $time" runs && line="$line $time" || line="$line      "
  done
  echo "$line"
done | expect_seen

#!/usr/bin/env bash
# Mono's XmlSerializer writes a DateTimeOffset and a TimeSpan as empty elements, and a char as its number.
#
# Version: Mono 6.8.0.105 (Debian 12: mono-mcs 6.8.0.105+dfsg-3.3+deb12u1).
#
# Expected: What XmlSerializer cannot write it refuses, and a time with an offset is written as a DateTime is.
#
# Behaviour: Neither type has settable properties, so nothing of it is written but its element, without an error. The same members through
# DataContractSerializer and LINQ to XML are whole; DataContractSerializer writes the DateTimeOffset as two elements, its time in UTC.
#
# Why it matters: A feed whose dates become DateTimeOffset, as is recommended, has no dates from then on: a mirror clears them on the site.
#
# Seen:
#   XmlSerializer: <posted>2026-10-01T09:30:00</posted> <closes /> <shift /> <grade>65</grade>
#   LINQ to XML: <posted>2026-10-01T09:30:00</posted> <closes>2026-10-31T17:00:00-05:00</closes> <shift>PT8H</shift> <grade>A</grade>
#   DataContractSerializer: <closes><DateTime>2026-10-31T22:00:00Z</DateTime><OffsetMinutes>-300</OffsetMinutes></closes>

source "$(dirname "$0")/support/prepare.sh"
debian mono-mcs=6.8.0.105+dfsg-3.3+deb12u1 mono-runtime=6.8.0.105+dfsg-3.3+deb12u1 \
  libmono-system-xml4.0-cil=6.8.0.105+dfsg-3.3+deb12u1 libmono-system-xml-linq4.0-cil=6.8.0.105+dfsg-3.3+deb12u1 \
  libmono-system-runtime-serialization4.0-cil=6.8.0.105+dfsg-3.3+deb12u1
cat >Program.cs <<'PROGRAM'
using System;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using System.Xml.Serialization;

[DataContract(Name = "job", Namespace = "")]
[XmlType("job")]
public class Job {
  [DataMember] public DateTime posted = new DateTime(2026, 10, 1, 9, 30, 0);
  [DataMember] public DateTimeOffset closes = new DateTimeOffset(2026, 10, 31, 17, 0, 0, TimeSpan.FromHours(-5));
  [DataMember] public TimeSpan shift = TimeSpan.FromHours(8);
  [DataMember] public char grade = 'A';
}

public static class Program {
  static string Show(XElement job) {
    return string.Join(" ", job.Elements().Select(each => Regex.Replace(each.ToString(SaveOptions.DisableFormatting), " xmlns[^>]*\"|a:", "")));
  }

  public static void Main() {
    var job = new Job();
    var text = new StringWriter();
    new XmlSerializer(typeof(Job)).Serialize(text, job);
    Console.WriteLine("XmlSerializer: " + Show(XElement.Parse(text.ToString())));
    Console.WriteLine("LINQ to XML: " + Show(new XElement("job", new XElement("posted", job.posted), new XElement("closes", job.closes),
      new XElement("shift", job.shift), new XElement("grade", job.grade))));
    var stream = new MemoryStream();
    new DataContractSerializer(typeof(Job)).WriteObject(stream, job);
    var closes = XElement.Parse(Encoding.UTF8.GetString(stream.ToArray())).Element("closes");
    Console.WriteLine("DataContractSerializer: " + Show(new XElement("job", closes)));
  }
}
PROGRAM
# The programs look for their files below /usr and /etc.
unshare --mount sh -euc 'mount --make-rprivate /
  mount -t overlay overlay -o lowerdir="$0/usr:/usr" /usr
  mount -t overlay overlay -o lowerdir="$0/etc:/etc" /etc
  unset LD_LIBRARY_PATH; PATH=/usr/bin:/bin
  mcs -r:System.Xml -r:System.Xml.Linq -r:System.Runtime.Serialization Program.cs && mono Program.exe' "$root" | expect_seen

#!/usr/bin/env bash
# JAXB writes a char as its number, and times with milliseconds only where there are some.
#
# Version: JAXB 2.3.0.1 (Debian 12: libjaxb-java 2.3.0.1-10.1), OpenJDK 17.
#
# Expected: A char 'A' becomes the text A, as with String.valueOf, Jackson and the DOM.
#
# Behaviour: The binding of char is xs:unsignedShort: 65. A double of ten million is 1.0E7, as everywhere in Java.
#
# Why it matters: Codes of one letter (shift A, grade B, an internal flag Y or N) are numbers in the feed, which are as valid as the letters to
# whoever maps them.
#
# Seen:
#   <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
#   <job>
#       <shift>65</shift>
#       <grade>B</grade>
#       <pay>1.0E7</pay>
#       <posted>2026-10-01T09:30:00Z</posted>
#       <changed>2026-10-01T09:30:00.120Z</changed>
#   </job>

source "$(dirname "$0")/support/prepare.sh"
debian openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1 libjaxb-java=2.3.0.1-10.1
cat >Program.java <<'PROGRAM'
import java.util.Date;
import javax.xml.bind.JAXBContext;
import javax.xml.bind.Marshaller;
import javax.xml.bind.annotation.XmlAccessType;
import javax.xml.bind.annotation.XmlAccessorType;
import javax.xml.bind.annotation.XmlRootElement;

public class Program {
  @XmlRootElement(name = "job")
  @XmlAccessorType(XmlAccessType.FIELD)
  public static class Job {
    public char shift = 'A';
    public String grade = "B";
    public double pay = 10_000_000;
    public Date posted = new Date(1790847000000L);
    public Date changed = new Date(1790847000120L);
  }

  public static void main(String[] arguments) throws Exception {
    Marshaller marshaller = JAXBContext.newInstance(Job.class).createMarshaller();
    marshaller.setProperty(Marshaller.JAXB_FORMATTED_OUTPUT, true);
    marshaller.marshal(new Job(), System.out);
  }
}
PROGRAM
java="$root/usr/lib/jvm/java-17-openjdk-amd64/bin"
classes="$(printf '%s:' "$root"/usr/share/java/*.jar)"
"$java/javac" -cp "$classes" Program.java
"$java/java" -cp "$classes$work" Program | expect_seen

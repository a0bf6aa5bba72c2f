#!/usr/bin/env bash
# Perl's RPC::XML sends the ZIP code "02134" as the number 2134 and "1e5" as 100000; SOAP::Lite sends "1e5" and "true" so.
#
# Version: RPC::XML 0.82, SOAP::Lite 1.27 (Debian 12: librpc-xml-perl 0.82-1, libsoap-lite-perl 1.27-3); receivers: Python 3.11.2
# xmlrpc.server, PHP 8.2 SoapServer without a WSDL.
#
# Expected: What is a string in Perl, in quotes, arrives as a string.
#
# Behaviour: Both guess the type of each text by its look, and write it into the message: int, double, boolean, even a time. The receiver believes
# it. SOAP::Lite spares digits that begin with a zero, RPC::XML does not. RPC::XML::string->new and SOAP::Data->type("string") say the type.
#
# Why it matters: An agency's script sends its jobs to a board: references lose their zeros, BOS-12 stays, and 1e5 and 100000 become one key.
# Jobs in Boston have a ZIP code of four digits; those in Chicago are right, so that a test with 60601 shows nothing.
#
# Seen:
#   sent: "02134", "007", "1e5", "20.10", "20261001T09:00:00", "BOS-12", "true", "+5"
#   RPC::XML to Python: 2134, 7, 100000.0, 20.1, <DateTime '20261001T09:00:00'>, 'BOS-12', 'true', 5
#   SOAP::Lite to PHP: "02134", "007", 100000, 20.1, "20261001T09:00:00", "BOS-12", true, 5

source "$(dirname "$0")/support/prepare.sh"
debian librpc-xml-perl=0.82-1 libsoap-lite-perl=1.27-3 python3=3.11.2-1+b1 php8.2-cli=8.2.36-1~deb12u1 php8.2-soap=8.2.36-1~deb12u1
cat >server.py <<'PROGRAM'
import re
import sys
from xmlrpc.server import SimpleXMLRPCServer
server = SimpleXMLRPCServer(("127.0.0.1", int(sys.argv[1])), logRequests=False)
server.register_function(lambda *values: re.sub(" at 0x[0-9a-f]+", "", repr(values)[1:-1]), "add")
server.serve_forever()
PROGRAM
cat >server.php <<'PROGRAM'
<?php
class Jobs
{
    public function add(...$values)
    {
        return implode(', ', array_map('json_encode', $values));
    }
}
$server = new SoapServer(null, ['uri' => 'urn:jobs']);
$server->setClass('Jobs');
$server->handle();
PROGRAM
cat >client.pl <<'PROGRAM'
use strict;
use RPC::XML::Client;
use SOAP::Lite;
my ($python, $php) = @ARGV;
my @values = ('02134', '007', '1e5', '20.10', '20261001T09:00:00', 'BOS-12', 'true', '+5');
print 'sent: ', join(', ', map { qq("$_") } @values), "\n";
print 'RPC::XML to Python: ', RPC::XML::Client->new("http://127.0.0.1:$python/")->send_request('add', @values)->value, "\n";
print 'SOAP::Lite to PHP: ', SOAP::Lite->uri('urn:jobs')->proxy("http://127.0.0.1:$php/")->add(@values)->result, "\n";
PROGRAM
cat >program.mjs <<PROGRAM
import { execFileSync } from 'node:child_process';
import { freePort, startServer } from "$support/http.mjs";
const [python, php] = [await freePort(), await freePort()];
await startServer(python, '/usr/bin/python3', 'server.py', String(python));
const extension = execFileSync('sh', ['-c', 'ls -d $root/usr/lib/php/*/soap.so'], { encoding: 'utf8' }).trim();
await startServer(php, 'php8.2', '-n', '-d', \`extension=\${extension}\`, '-S', \`127.0.0.1:\${php}\`, 'server.php');
process.stdout.write(execFileSync('perl', ['client.pl', String(python), String(php)]));
process.exit();
PROGRAM
node program.mjs | expect_seen

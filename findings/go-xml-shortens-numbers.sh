#!/usr/bin/env bash
# Go's encoding/xml writes 1e+06 and 1.23456789012e+11 where encoding/json writes all digits.
#
# Version: Go 1.19.8 (Debian 12: golang-1.19-go 1.19.8-2).
#
# Expected: Both packages of the standard library write the number of a struct alike. JSON has no exponent below 1e21.
#
# Behaviour: encoding/xml formats a float64 with 'g', which has an exponent from a million on: 999999, but 1e+06, and 1234567 as 1.234567e+06.
#
# Why it matters: encoding/json decodes any number into a float64 if the target is an interface. A service that reads jobs as JSON and writes
# them as XML turns references of seven digits and more into 1.234567e+06, and salaries from a million on, but no smaller ones.
#
# Seen:
#   json 999999 xml <id>999999</id>
#   json 1000000 xml <id>1e+06</id>
#   json 1234567 xml <id>1.234567e+06</id>
#   json 123456789012 xml <id>1.23456789012e+11</id>

source "$(dirname "$0")/support/prepare.sh"
debian golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2
export GOROOT="$root/usr/lib/go-1.19" GOCACHE="$work/cache" GOPATH="$work/go" GO111MODULE=off GOPROXY=off
cat >program.go <<'PROGRAM'
package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
)

func main() {
	var jobs []map[string]interface{}
	json.Unmarshal([]byte(`[{"id": 999999}, {"id": 1000000}, {"id": 1234567}, {"id": 123456789012}]`), &jobs)
	for _, job := range jobs {
		asJSON, _ := json.Marshal(job["id"])
		asXML, _ := xml.Marshal(struct {
			XMLName xml.Name `xml:"id"`
			Text    interface{} `xml:",chardata"`
		}{Text: job["id"]})
		fmt.Println("json", string(asJSON), "xml", string(asXML))
	}
}
PROGRAM
"$GOROOT/bin/go" run program.go | expect_seen

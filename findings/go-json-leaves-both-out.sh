#!/usr/bin/env bash
# Go's encoding/json leaves out a member that two embedded structs have, without an error; encoding/xml refuses it.
#
# Version: Go 1.19.8 (Debian 12: golang-1.19-go 1.19.8-2).
#
# Expected: An error, as from encoding/xml, or one of the two values, as the compiler asks which one is meant.
#
# Behaviour: Members of the same name at the same depth exclude each other: neither is written, and neither is read. A third one of that name at
# the outer level is written.
#
# Why it matters: Somebody adds an embedded struct with a "ref" to the type of a job, and the feed has no references any more: all
# records lose their key at once, in a service that compiles and whose tests of other members pass.
#
# Seen:
#   json {"ref":"r-1","title":"Nurse"} <nil>
#   json {"title":"Nurse","source":"ats"} <nil>
#   xml main.Both field "Ref" with tag "ref" conflicts with field "Ref" with tag "ref"

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

type Posting struct {
	Ref   string `json:"ref" xml:"ref"`
	Title string `json:"title" xml:"title"`
}
type Origin struct {
	Ref    string `json:"ref" xml:"ref"`
	Source string `json:"source" xml:"source"`
}
type Both struct {
	Posting
	Origin
}

func main() {
	one, err := json.Marshal(Posting{"r-1", "Nurse"})
	fmt.Println("json", string(one), err)
	both := Both{Posting{"r-1", "Nurse"}, Origin{"r-1", "ats"}}
	two, err := json.Marshal(both)
	fmt.Println("json", string(two), err)
	_, err = xml.Marshal(both)
	fmt.Println("xml", err)
}
PROGRAM
"$GOROOT/bin/go" run program.go | sed 's/xml  */xml /' | expect_seen

// Package script holds what the three Go clients share: the names of the records and the report.
package script

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const (
	PerCodec   = 20
	After      = 4
	Partitions = 2
)

// Report is what every client program prints, whatever its language.
type Report struct {
	Client     string            `json:"client"`
	Codecs     []string          `json:"codecs"`
	Partitions int               `json:"partitions"`
	Consumed   [][3]string       `json:"consumed"`
	Offsets    map[string][2]int `json:"offsets"`
	GroupFirst int               `json:"group_first"`
	Resumed    []string          `json:"resumed"`
	Deleted    bool              `json:"deleted"`
}

// Arguments are the broker's address, the topic and the group of this run.
func Arguments() (bootstrap, topic, group string) {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: client HOST:PORT TOPIC GROUP")
		os.Exit(2)
	}
	return os.Args[1], os.Args[2], os.Args[3]
}

func Key(codec string, i int) string { return fmt.Sprintf("%s-%d", codec, i) }
func Value(codec string, i int) string {
	return fmt.Sprintf("%s %d ", codec, i) + strings.Repeat("x", 200)
}

func Must(err error) {
	if err != nil {
		panic(err)
	}
}

func (r *Report) Print() { Must(json.NewEncoder(os.Stdout).Encode(r)) }

// HTTPS by Go, HTTP/1 and its own HTTP/2:
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

// serve ADDRESS CERT KEY | get URL COUNT: requests by Go's own client, HTTP/2 where the server has it
func main() {
	if os.Args[1] == "serve" {
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ok") })
		log.SetOutput(io.Discard)
		log.Fatal(http.ListenAndServeTLS(os.Args[2], os.Args[3], os.Args[4], nil))
	}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: os.Args[3] == "2"}}
	for i := 0; i < 50; i++ {
		r, err := c.Get(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}

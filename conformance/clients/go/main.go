// A client of Go's standard library. It asks a site of the tests, checks what comes back, and writes a line of JSON about
// each check; `load` asks until its standard input ends.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var (
	url     = flag.String("url", "", "the origin of the site")
	ca      = flag.String("ca", "", "the file of the authority to trust")
	proto   = flag.String("proto", "", "the protocol: HTTP/1.1 or HTTP/2.0")
	bytesOf = flag.Int("bytes", 0, "the bytes of bodies")
	fresh   = flag.Bool("fresh", false, "make a connection for each request")
	load    = flag.Int("load", 0, "ask that many at a time until the standard input ends, and do nothing else")
)

func main() {
	flag.Parse()
	client, err := newClient()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *load > 0 {
		keepAsking(client)
		return
	}
	checks := []struct {
		name string
		run  func(*http.Client) error
	}{
		{"json", checkJSON},
		{"bodies", checkBodies},
		{"parts", checkParts},
		{"parallel", checkParallel},
		{"statuses", checkStatuses},
		{"trailers", checkTrailers},
		{"abort", checkAbort},
	}
	for _, check := range checks {
		line := map[string]any{"name": check.name, "error": nil}
		if err := check.run(client); err != nil {
			line["error"] = err.Error()
		}
		write(line)
	}
}

func newClient() (*http.Client, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(*proto == "HTTP/1.1")
	protocols.SetHTTP2(*proto == "HTTP/2.0")
	protocols.SetUnencryptedHTTP2(*proto == "HTTP/2.0")
	transport := &http.Transport{Protocols: protocols, MaxConnsPerHost: 8, MaxIdleConnsPerHost: 8}
	transport.DisableKeepAlives = *fresh
	if *ca != "" {
		pem, err := os.ReadFile(*ca)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return &http.Client{Transport: transport, Timeout: 60 * time.Second}, nil
}

func checkJSON(client *http.Client) error {
	reply, err := client.Get(*url + "/json")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != 200 || reply.Proto != *proto {
		return fmt.Errorf("%s by %s", reply.Status, reply.Proto)
	}
	var said struct{ HttpVersion string }
	if err := json.NewDecoder(reply.Body).Decode(&said); err != nil {
		return err
	}
	if "HTTP/"+said.HttpVersion != *proto && "HTTP/"+said.HttpVersion+".0" != *proto {
		return fmt.Errorf("the handler saw %s", said.HttpVersion)
	}
	return nil
}

// The request has a length for one path, and none for the other.
func checkBodies(client *http.Client) error {
	body := bytes.Repeat([]byte{'x', 'y', 'z', 0, 255}, *bytesOf/5)
	for _, path := range []string{"/echo", "/echo-stream"} {
		var source io.Reader = bytes.NewReader(body)
		if path == "/echo-stream" {
			source = io.MultiReader(source)
		}
		reply, err := client.Post(*url+path, "application/octet-stream", source)
		if err != nil {
			return err
		}
		back, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil {
			return err
		}
		if reply.StatusCode != 200 || !bytes.Equal(back, body) {
			return fmt.Errorf("%s: %s, %d bytes of %d", path, reply.Status, len(back), len(body))
		}
	}
	return nil
}

func checkParts(client *http.Client) error {
	reply, err := client.Get(*url + "/parts/go")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	lines := bufio.NewReader(reply.Body)
	first, err := lines.ReadString('\n')
	if err != nil || first != "first\n" {
		return fmt.Errorf("%q, %v", first, err)
	}
	next, err := client.Get(*url + "/parts/go/next")
	if err != nil {
		return err
	}
	next.Body.Close()
	rest, err := io.ReadAll(lines)
	if err != nil || string(rest) != "second\n" {
		return fmt.Errorf("%q, %v", rest, err)
	}
	return nil
}

func checkParallel(client *http.Client) error {
	var fresh atomic.Int64
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if !got.Reused {
			fresh.Add(1)
		}
	}}
	ctx := httptrace.WithClientTrace(context.Background(), trace)
	failures := make(chan error, 100)
	var all sync.WaitGroup
	for range 100 {
		all.Add(1)
		go func() {
			defer all.Done()
			request, _ := http.NewRequestWithContext(ctx, "GET", *url+"/json", nil)
			reply, err := client.Do(request)
			if err != nil {
				failures <- err
				return
			}
			defer reply.Body.Close()
			io.Copy(io.Discard, reply.Body)
			if reply.StatusCode != 200 {
				failures <- errors.New(reply.Status)
			}
		}()
	}
	all.Wait()
	close(failures)
	for err := range failures {
		return err
	}
	// The checks before this one have made the connection.
	if most := map[string]int64{"HTTP/1.1": 8, "HTTP/2.0": 0}[*proto]; fresh.Load() > most {
		return fmt.Errorf("%d new connections", fresh.Load())
	}
	return nil
}

func checkStatuses(client *http.Client) error {
	for _, status := range []int{400, 404, 422, 500, 503} {
		reply, err := client.Get(fmt.Sprintf("%s/status/%d", *url, status))
		if err != nil {
			return err
		}
		var problem struct{ Status int }
		err = json.NewDecoder(reply.Body).Decode(&problem)
		reply.Body.Close()
		if err != nil || reply.StatusCode != status || problem.Status != status {
			return fmt.Errorf("%s and %d for %d, %v", reply.Status, problem.Status, status, err)
		}
	}
	return nil
}

func checkTrailers(client *http.Client) error {
	body := io.MultiReader(bytes.NewReader([]byte("with trailers")))
	request, err := http.NewRequest("POST", *url+"/trailers", body)
	if err != nil {
		return err
	}
	request.Trailer = http.Header{"X-Sum": {"13"}}
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	back, err := io.ReadAll(reply.Body)
	if err != nil || string(back) != "with trailers" || reply.Trailer.Get("X-Sum") != "13" {
		return fmt.Errorf("%s %q with %v, %v", reply.Status, back, reply.Trailer, err)
	}
	return nil
}

func checkAbort(client *http.Client) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", *url+"/hang/go", nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.Do(request)
		ended <- err
	}()
	// `/waits` replies when the handler runs.
	reply, err := client.Get(*url + "/waits/go")
	if err != nil {
		return err
	}
	reply.Body.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("it ended with %v", err)
	}
	return nil
}

// Writes how many replies came by which connections, and what failed.
func keepAsking(client *http.Client) {
	var over atomic.Bool
	var asked, fresh atomic.Int64
	var lock sync.Mutex
	servers := map[string]int{}
	failures := map[string]int{}
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			if !got.Reused {
				fresh.Add(1)
			}
		},
	})
	var all sync.WaitGroup
	for worker := range *load {
		all.Add(1)
		go func() {
			defer all.Done()
			for !over.Load() {
				server, err := askOnce(ctx, client, worker)
				lock.Lock()
				if err == nil {
					servers[server]++
				} else {
					failures[err.Error()]++
				}
				lock.Unlock()
				if asked.Add(1) == int64(*load) {
					write(map[string]any{"running": true})
				}
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
	over.Store(true)
	all.Wait()
	write(map[string]any{
		"asked": asked.Load(), "connections": fresh.Load(), "servers": servers, "failures": failures,
	})
}

// Every other worker sends a body, which is not sent again unless the server has said that it did not see the request.
func askOnce(ctx context.Context, client *http.Client, worker int) (string, error) {
	method, body := "GET", io.Reader(nil)
	if worker%2 == 1 {
		method, body = "POST", bytes.NewReader([]byte("counted once"))
	}
	request, err := http.NewRequestWithContext(ctx, method, *url+"/count", body)
	if err != nil {
		return "", err
	}
	reply, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return "", err
	}
	if reply.StatusCode != 200 {
		return "", errors.New(reply.Status)
	}
	return string(text), nil
}

func write(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

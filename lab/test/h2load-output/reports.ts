/** What h2load 1.52 has printed. */

/**
 * The arguments were --clients 5 --max-concurrent-streams 10 --warm-up-time 300ms --duration 500ms; the server was
 * nghttpd.
 */
export const h2 = `starting benchmark...
spawning thread #0: 5 total client(s). Timing-based test with 0.3s of warm-up time and 0.5s of main duration for measurements.
Warm-up started for thread #0.
TLS Protocol: TLSv1.3
Cipher: TLS_AES_256_GCM_SHA384
Server Temp Key: ECDH prime256v1 256 bits
Application protocol: h2
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 802.16ms, 63800.00 req/s, 3.29MB/s
requests: 31900 total, 31900 started, 31900 done, 31900 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 31900 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 1.64MB (1722715) total, 646.13KB (661640) headers (space savings 93.95%), 1.43MB (1502500) data
                     min         max         mean         sd        +/- sd
time for request:       88us     11.01ms       758us       941us    92.97%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :   12691.02    12754.65    12731.24       29.44    80.00%
`

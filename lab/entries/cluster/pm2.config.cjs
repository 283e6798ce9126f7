// pm2 in cluster mode, with what its page "Graceful Start/Shutdown" names. A worker has the time that others have.
module.exports = {
  apps: [
    {
      name: 'cluster',
      script: './pm2-worker.mjs',
      cwd: __dirname,
      exec_mode: 'cluster',
      instances: Number(process.env.WORKERS),
      wait_ready: true,
      listen_timeout: 30_000,
      kill_timeout: 15_000,
      // The lab kills a worker each second: pm2 counts a start that lasted less as one that failed, and gives up.
      max_restarts: 1_000,
    },
  ],
}

# The configuration of workerd for the bundle of worker.js: `workerd serve worker.capnp`.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "pets", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "pets")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.bundle.js")],
  bindings = [(name = "API_KEY", fromEnvironment = "API_KEY")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
);

// A Module Federation container, written by hand: no npm, no bundler, no build step.
//
// JupyterLab calls `init` with the modules that it shares, and `get` to load our extension.  Everything else is in
// ordinary ES modules next to this file.
(() => {
  const here = document.currentScript.src;
  let shared;
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["tfrt-nb-labextension"] = {
    init: scope => {
      shared = scope;
    },
    get: async name => {
      if (name !== "./extension") throw new Error(`tfrt-nb-labextension has no module ${name}`);
      const { createPlugins } = await import(new URL("extension.js", here).href);
      const plugins = await createPlugins(shared);
      return () => ({ __esModule: true, default: plugins });
    },
  };
})();

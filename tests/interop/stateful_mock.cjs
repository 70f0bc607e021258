// Runs stripe-stateful-mock on a loopback port of its own and says where. Argument: where its packages are.
const { createRequire } = require("node:module");

const { createExpressApp } = createRequire(`${process.argv[2]}/`)("stripe-stateful-mock");
const server = createExpressApp().listen(0, "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
});

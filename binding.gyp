{
  "targets": [
    {
      "target_name": "svc",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake",
          "inputs": ["CMakeLists.txt", "CMakePresets.json", "native/sources.json"],
          "outputs": ["<(PRODUCT_DIR)/svc.built"],
          "message": "CMakeLists.txt has the flags; this only calls its build",
          "action": ["node", "scripts/build.mjs"]
        }
      ]
    }
  ]
}
